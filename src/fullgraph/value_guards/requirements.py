"""What value guards need of Dynamo: one table, the releases on which it was tried, the check."""

from __future__ import annotations

import importlib
import importlib.metadata
import inspect
from typing import Any, NamedTuple

from fullgraph.errors import FullgraphError

# The tests of this package pass on these.
RELEASES = ((2, 13), (2, 14), (2, 15))


class ValueGuardError(FullgraphError):
    """Value guards cannot be used here, and why."""


class Need(NamedTuple):
    """A name in Dynamo, the parameters it must have (None: it is not called), and what for."""

    place: str
    parameters: tuple[str, ...] | None
    why: str


_TENSOR = "torch._dynamo.variables.tensor:TensorVariable"

NEEDS = (
    Need(f"{_TENSOR}.method_item", ("self", "tx", "args", "kwargs"),
         "every way of asking a tensor for its number comes by here, but branches"),
    Need(f"{_TENSOR}.method_tolist", ("self", "tx"),
         "the same for many numbers at once"),
    Need("torch._dynamo.utils:_get_fake_value_impl", ("node", "tx", "allow_non_graph_fake"),
         "what an operation returns, its size first of all; and what it writes to"),
    Need("torch._subclasses.fake_tensor:FakeTensorMode.dispatch",
         ("self", "func", "types", "args", "kwargs"), "the operators that an operation runs"),
    Need("torch._dynamo.symbolic_convert:InstructionTranslatorBase.dispatch_table", None,
         "branches"),
    Need("torch._dynamo.variables.builtin:BuiltinVariable.call_function",
         ("self", "tx", "args", "kwargs"), "`range` of a tensor"),
    Need("torch._dynamo.guards:install_guard", ("guards", "skip"), "adding a guard"),
    Need("torch._dynamo.guards:GuardBuilder.__init__", None, "what a guard is built with"),
    Need("torch._dynamo.guards:_get_closure_vars", (), "the names in a source's expression"),
    Need("torch._dynamo.source:is_from_skip_guard_source", ("source",),
         "inputs on which Dynamo adds no guards"),
    Need("torch._dynamo.source:GlobalStateSource", (), "a guard that belongs to no input"),
    Need("torch._dynamo.variables.builder:GraphArg", None, "where an input comes from"),
    Need("torch._dynamo.variables.constant:ConstantVariable.create", None, "known numbers"),
    Need("torch._dynamo.variables.base:VariableTracker.build", None, "known lists"),
    Need("torch._dynamo.variables.lazy:LazyVariableTracker.peek_value", ("self",),
         "what is not a tensor is not looked at"),
    Need("torch._dynamo.output_graph:OutputGraph", None, "the frame that is being traced"),
    Need("torch._dynamo.symbolic_convert:_detect_and_normalize_assert_statement",
         ("self", "truth_fn", "push"), "asserts, which are left alone"),
    Need("torch._dynamo.exc:Unsupported", None, "a break"),
    Need("torch._dynamo.exc:UserError", None, "a break of another kind"),
    Need("torch._dynamo.exc:TorchRuntimeError", None, "an operation that fails"),
    Need("torch._dynamo.utils:numpy_operator_wrapper", None, "NumPy in a graph"),
    Need("torch._dynamo.utils:numpy_to_tensor_wrapper", None, "NumPy in a graph"),
    Need("torch._C._dynamo.eval_frame:_debug_get_cache_entry_list", None,
         "how often a function has been compiled"),
    Need("torch._C._dynamo.guards:RootGuardManager.add_epilogue_lambda_guard", None,
         "asking the guard last, when all others hold"),
    Need("torch._dynamo:config.recompile_limit", None, "how often it may be compiled"),
    Need("torch:nonzero_static", None, "`nonzero` with a given size"),
    Need("torch._C:_DisableTorchDispatch", None, "computing on real tensors only"),
    Need("torch._C:_DisableAutocast", None, "computing in the types that were traced"),
    Need("torch._C:DisableTorchFunction", None, "computing without the program's modes"),
)  # fmt: skip


def why_not() -> str | None:
    """The reason why value guards do not work with the installed torch, in one sentence."""
    try:
        version = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return "torch is not installed here: pip install torch"
    if _release(version) not in RELEASES:
        known = ", ".join(f"{major}.{minor}" for major, minor in RELEASES)
        return (
            f"value guards have not been tried on torch {version}, only on {known}: "
            "use one of these, or go without them"
        )
    for need in NEEDS:
        if not _is_met(need):
            return (
                f"torch {version} has no {need.place.replace(':', '.')} of the kind that value "
                "guards need: use a release that is not modified, or go without them"
            )
    return None


def _release(version: str) -> tuple[int, ...]:
    numbers = version.split("+")[0].split(".")[:2]
    return tuple(int(number) for number in numbers if number.isdigit())


def _is_met(need: Need) -> bool:
    try:
        found = find(need.place)
    except (ImportError, AttributeError):
        return False
    return need.parameters is None or tuple(inspect.signature(found).parameters) == need.parameters


def find(place: str) -> Any:
    """The object at `module:attribute.attribute`."""
    module, path = place.split(":")
    found: Any = importlib.import_module(module)
    for name in path.split("."):
        found = getattr(found, name)
    return found
