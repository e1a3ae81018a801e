"""Skips a context manager that has no effect on this machine or in a graph.

What it does: the `with` statement gets `contextlib.nullcontext()` if the manager has no effect, by
a condition that Dynamo evaluates at trace time. Examples are `torch.backends.cudnn.flags(...)`,
`torch.cuda.device_of(x)`, `numpy.errstate(...)` and `warnings.catch_warnings()`.

Why it breaks: Dynamo cannot trace these managers, so that the graph ends or Dynamo skips the whole
function. Some of them concern one kind of device, others concern warnings; on a machine without
the device, or inside a graph, they have no effect.

Safety: exact. On a machine with the device the program runs as before, and so the break remains.

Not applied when: the manager has an effect on every machine. The flags of oneDNN and NNPACK choose
other kernels on a CPU, `errstate` with "raise" raises, and anomaly detection checks the backward
pass. Nor is it applied if the block reads the flags that it sets, or if the manager is bound with
`as`. A block under `catch_warnings` must not read the warnings or call a function that may warn.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

from fullgraph.fix.fixers import Proposal
from fullgraph.fix.model import Candidate
from fullgraph.fix.purity.known_functions import is_known_pure, is_pure_method
from fullgraph.fix.source.codegen import conditional_expression
from fullgraph.fix.source.context import BreakContext
from fullgraph.fix.source.declined import Declined, quoted
from fullgraph.fix.source.edits import Edit, indent_under, replace_node
from fullgraph.fix.source.names import qualified_name, root_of
from fullgraph.fix.source.text import owns_its_lines

TITLE = "context manager without effect → skipped"
KIND = "rewrite"
SAFETY = "exact"
IDS = ()
CATEGORIES = ("untraced-calls", "context-managers", "side-effects", "python", "dynamo-bugs")
# A lock always has an effect.
OFFERED_FOR = (
    r"(?ms)\A(?!.*\b_?R?[lL]ock\b)"
    r".*(^\s*with |context ?manager|\bcontextlib\b|\bflags\b|\berrstate\b|catch_warnings)"
)

_NULL_CONTEXT = "contextlib.nullcontext()"
_IN_EAGER_MODE = "not torch.compiler.is_compiling()"
_CATCH_WARNINGS = "warnings.catch_warnings"
_FILTERS = ("warnings.simplefilter", "warnings.filterwarnings")


def propose(context: BreakContext) -> Iterator[Proposal]:
    """Yield the innermost `with` statement around the break that has a manager without effect."""
    here = context.in_user_code()
    if here is None:
        return
    declined: Declined | None = None
    for block in here.statements:
        if isinstance(block, ast.With):
            try:
                edits = _skip_managers(here, block)
            except Declined as error:
                declined = declined or error
                continue
            if edits:
                imports = ("import contextlib", "import torch")
                yield Candidate(here.file_edits(edits, imports=imports))
                return
    if declined:
        raise declined


def _skip_managers(context: BreakContext, block: ast.With) -> list[Edit]:
    """Return the edits that skip the managers of a block; none if no manager is known.

    Declined is raised if all known managers have an effect.
    """
    edits: list[Edit] = []
    declined: Declined | None = None
    for item in block.items:
        try:
            edits += _skip_manager(context, block, item)
        except Declined as error:
            declined = declined or error
    if declined and not edits:
        raise declined
    return edits


def _skip_manager(context: BreakContext, block: ast.With, item: ast.withitem) -> list[Edit]:
    """Return the edits that skip one manager; none if it is not known."""
    call = item.context_expr
    name = context.name(call.func) if isinstance(call, ast.Call) else ""
    if not isinstance(call, ast.Call) or name not in _CONDITIONS:
        return []
    if item.optional_vars is not None:
        raise Declined("the context manager is bound to a name", call)
    needed = _CONDITIONS[name](call, block, context.imports)
    edits: list[Edit] = []
    if name == _CATCH_WARNINGS:
        filters = [each for each in block.body if _is_filter(each, context.imports)]
        edits += [edit for each in filters for edit in _skip_filter(context, each)]
    choice = conditional_expression(context.text, call, context.source(call), needed, _NULL_CONTEXT)
    return [*edits, replace_node(context.text, call, choice)]


def _skip_filter(context: BreakContext, statement: ast.stmt) -> tuple[Edit, ...]:
    if not owns_its_lines(context.text, statement):
        raise Declined("another statement is on the same line", statement)
    return indent_under(context.text, [statement], f"if {_IN_EAGER_MODE}:")


# The condition under which each manager has an effect; Declined if it may have one at any time.


def _unless_without_cuda(call: ast.Call, block: ast.With, imports: Mapping[str, str]) -> str:
    for statement in block.body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Attribute) and "cudnn" in qualified_name(node, imports):
                raise Declined("the block reads the flags of cuDNN", node)
    return "torch.cuda.is_available()"


def _if_on_cuda(call: ast.Call, block: ast.With, imports: Mapping[str, str]) -> str:
    match call.args:
        case [ast.Name(id=name)] if not call.keywords:
            return f"{name}.is_cuda"
    raise Declined("the tensor has no name", call)


def _if_numpy_may_warn(call: ast.Call, block: ast.With, imports: Mapping[str, str]) -> str:
    """Return the condition; a graph has no NumPy arrays, and its operators never warn."""
    ignores = all(
        isinstance(each.value, ast.Constant) and each.value.value == "ignore" and each.arg
        for each in call.keywords
    )
    if not ignores or not call.keywords or call.args:
        raise Declined("the manager does more than ignore warnings", call)
    return _IN_EAGER_MODE


def _if_python_may_warn(call: ast.Call, block: ast.With, imports: Mapping[str, str]) -> str:
    """Return the condition; operators of torch do not warn in a graph."""
    if call.args or call.keywords:
        raise Declined("the block records warnings", call)
    rest = [each for each in block.body if not _is_filter(each, imports)]
    if not rest or len(rest) == len(block.body):
        raise Declined("the block does not ignore warnings", block)
    for statement in rest:
        for node in ast.walk(statement):
            if isinstance(node, ast.Call) and not _is_silent(node.func, imports):
                raise Declined(f"{quoted(node.func)} may warn", node)
    return _IN_EAGER_MODE


def _is_silent(function: ast.expr, imports: Mapping[str, str]) -> bool:
    """Return whether a function issues no Python warnings when it is called in a graph."""
    name = qualified_name(function, imports)
    if root_of(function) in imports:
        return name.startswith(("torch.", "math.")) and is_known_pure(name)
    if isinstance(function, ast.Attribute):
        return is_pure_method(function.attr)
    return is_known_pure(name)


def _is_filter(statement: ast.stmt, imports: Mapping[str, str]) -> bool:
    """Return whether a statement is like `warnings.simplefilter("ignore")`."""
    match statement:
        case ast.Expr(value=ast.Call(func=func, args=[ast.Constant(value="ignore"), *_])):
            return qualified_name(func, imports) in _FILTERS
    return False


def _if_enabled(call: ast.Call, block: ast.With, imports: Mapping[str, str]) -> str:
    enabled = [each.value for each in call.keywords if each.arg == "enabled"]
    match enabled:
        case [ast.Constant(value=value)] if not value:
            return _IN_EAGER_MODE
    raise Declined("the profiler may be enabled", call)


def _always(call: ast.Call, block: ast.With, imports: Mapping[str, str]) -> str:
    raise Declined(f"{quoted(call.func)} has an effect on every machine", call)


_CONDITIONS: dict[str, Callable[[ast.Call, ast.With, Mapping[str, str]], str]] = {
    "torch.backends.cudnn.flags": _unless_without_cuda,
    "torch.cuda.device_of": _if_on_cuda,
    "numpy.errstate": _if_numpy_may_warn,
    _CATCH_WARNINGS: _if_python_may_warn,
    "torch.autograd.profiler.emit_nvtx": _if_enabled,
    "torch.autograd.profiler.emit_itt": _if_enabled,
    "torch.backends.mkldnn.flags": _always,
    "torch.backends.nnpack.flags": _always,
    "torch.autograd.detect_anomaly": _always,
    "torch.autograd.set_detect_anomaly": _always,
}
