"""Replaces a progress bar with the plain loop in compiled code.

What it does: `for step in tqdm(steps):` becomes a loop over
`steps if torch.compiler.is_compiling() else tqdm(steps)`.

Why it breaks: a progress bar draws on the terminal while the loop runs. Dynamo does not trace into
such an iterator, and a loop over an unknown iterator makes Dynamo skip the whole function.
`torch.compiler.is_compiling()` is a constant during tracing, so that Dynamo traces the plain loop.

Safety: dropped. Eager mode shows the bar as before; compiled code shows none.

Not applied when: the bar has a name, because the loop may use or update it; an option of the bar
has a side effect; or the arguments are unpacked with `*`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from fullgraph.fix.fixers import Proposal
from fullgraph.fix.fixers._output_calls import require_removable
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.break_ids import INLINED_SKIPPED_FUNCTION
from fullgraph.fix.source.codegen import conditional_expression
from fullgraph.fix.source.context import BreakContext
from fullgraph.fix.source.declined import Declined
from fullgraph.fix.source.edits import replace_node

TITLE = "progress bar → plain loop in compiled code"
KIND = "rewrite"
SAFETY = "dropped"
IDS = (INLINED_SKIPPED_FUNCTION,)
CATEGORIES = ()
OFFERED_FOR = r"tqdm|\btrack\b|progress|trange"
ANY_BREAK = True

# The bars of these libraries are known to yield exactly the objects that they get.
_LIBRARIES = ("tqdm.", "rich.progress.", "fastprogress.")
_BARS = ("tqdm", "track", "progress_bar", "trange")


def propose(context: BreakContext) -> Iterator[Proposal]:
    """Yield the loop without the bar."""
    here = context.in_user_code()
    if here is None:
        return
    _decline_named_bar(here)
    loop = next((each for each in here.statements if isinstance(each, ast.For)), None)
    if loop is None:
        return
    bar = loop.iter
    if isinstance(bar, ast.Call) and _is_bar(here, bar) and bar.args:
        plain = _iterable_of(here, bar)
        choice = conditional_expression(
            here.text, bar, plain, "torch.compiler.is_compiling()", here.source(bar)
        )
        edit = replace_node(here.text, bar, choice)
        yield Candidate(here.file_edits([edit], imports=("import torch",)))


def _is_bar(context: BreakContext, call: ast.Call) -> bool:
    name = context.name(call.func)
    return name.startswith(_LIBRARIES) and name.rpartition(".")[2] in _BARS


def _decline_named_bar(context: BreakContext) -> None:
    """Decline `bar = tqdm(...)` with `for step in bar:`, at a break in either of them."""
    if context.function is None:
        return
    loops = [each.iter for each in context.statements if isinstance(each, ast.For)]
    for node in ast.walk(context.function):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                is_looped = any(isinstance(each, ast.Name) and each.id == name for each in loops)
                if _is_bar(context, call) and (is_looped or node in context.statements):
                    raise Declined(f"the progress bar has a name, `{name}`", node)


def _iterable_of(context: BreakContext, bar: ast.Call) -> str:
    """Return the source of what a bar iterates over."""
    if any(isinstance(each, ast.Starred) for each in bar.args):
        raise Declined("the arguments of the progress bar are unpacked", bar)
    for option in (*bar.args[1:], *(keyword.value for keyword in bar.keywords)):
        require_removable(option, context.file)
    if "\n" in context.source(bar):
        raise Declined("the call of the progress bar has several lines", bar)
    arguments = [context.source(each) for each in bar.args]
    is_range = context.name(bar.func).endswith("trange")
    return f"range({', '.join(arguments)})" if is_range else arguments[0]
