"""The names that value guards need from torch, the tested releases, and the check of both.

`REQUIREMENTS` lists every private name of torch that this package uses; a test compares the list
with the code. torch may change private names in any release, so value guards refuse a release that
has not been tested or lacks one of the names.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import inspect
from typing import Any, NamedTuple

from fullgraph.errors import FullgraphError
from fullgraph.installed_torch import release_of

# The tests of this package pass on these releases.
RELEASES = ((2, 13), (2, 14), (2, 15))


class ValueGuardError(FullgraphError):
    """Value guards cannot be used; the message is the reason."""


class Requirement(NamedTuple):
    """A name in torch, as `module:attribute.attribute`, and the use that is made of it."""

    name: str
    use: str
    # The exact parameters, for functions that are replaced or called; None: not checked.
    parameters: tuple[str, ...] | None = None


_DYNAMO = "torch._dynamo"
_VARIABLES = "torch._dynamo.variables"

REQUIREMENTS = (
    # Replaced while a block is active
    Requirement(f"{_VARIABLES}.tensor:TensorVariable.method_item",
                "handles every conversion of a tensor to a number, except in branches",
                ("self", "tx", "args", "kwargs")),
    Requirement(f"{_VARIABLES}.tensor:TensorVariable.method_tolist",
                "handles `tolist`", ("self", "tx")),
    Requirement(f"{_DYNAMO}.utils:_get_fake_value_impl",
                "runs an operation on fake tensors", ("node", "tx", "allow_non_graph_fake")),
    Requirement("torch._subclasses.fake_tensor:FakeTensorMode.dispatch",
                "runs each operator on fake tensors", ("self", "func", "types", "args", "kwargs")),
    Requirement(f"{_DYNAMO}.symbolic_convert:InstructionTranslatorBase.dispatch_table",
                "handles the bytecode of branches"),
    Requirement(f"{_VARIABLES}.builtin:BuiltinVariable.call_function",
                "handles `range` of a tensor", ("self", "tx", "args", "kwargs")),
    # Variables
    Requirement(f"{_VARIABLES}.tensor:NumpyNdarrayVariable", "represents a NumPy array"),
    Requirement(f"{_VARIABLES}.constant:ConstantVariable.create", "represents a known number"),
    Requirement(f"{_VARIABLES}.base:VariableTracker.build", "represents a known list"),
    Requirement(f"{_VARIABLES}.lazy:LazyVariableTracker.peek_value",
                "tells whether a variable is a tensor without adding guards", ("self",)),
    Requirement(f"{_VARIABLES}.lazy:LazyVariableTracker.is_realized",
                "tells whether a variable has guards already"),
    Requirement(f"{_VARIABLES}.lazy:LazyVariableTracker.realize", "makes the variable a tensor"),
    Requirement(f"{_DYNAMO}.symbolic_convert:_detect_and_normalize_assert_statement",
                "finds asserts, which stay in the graph", ("self", "truth_fn", "push")),
    # Inputs
    Requirement(f"{_VARIABLES}.builder:GraphArg", "tells where an input comes from"),
    Requirement(f"{_DYNAMO}.source:is_from_skip_guard_source",
                "finds inputs that Dynamo does not guard", ("source",)),
    Requirement("torch:_is_functional_tensor", "finds tensors that are not plain"),
    Requirement("torch._C._functorch:is_functorch_wrapped_tensor", "finds tensors of vmap"),
    # Guards
    Requirement(f"{_DYNAMO}.guards:install_guard", "adds a guard", ("guards", "skip")),
    Requirement(f"{_DYNAMO}.guards:_get_closure_vars", "names in the expression of a source", ()),
    Requirement(f"{_DYNAMO}.source:GlobalStateSource", "is a source that is no input", ()),
    Requirement(f"{_DYNAMO}.source:GlobalStateSource.make_guard", "makes a guard"),
    Requirement("torch._C._dynamo.guards:RootGuardManager.add_epilogue_lambda_guard",
                "makes the guard run last, when all others pass"),
    Requirement("torch._C._dynamo.eval_frame:_debug_get_cache_entry_list",
                "tells how often a function has been compiled"),
    # Settings and state
    Requirement(f"{_DYNAMO}.config:recompile_limit", "tells how often a function may be compiled"),
    Requirement(f"{_DYNAMO}.config:caching_precompile", "finds ahead-of-time compilation"),
    Requirement(f"{_DYNAMO}.config:rewrite_assert_with_torch_assert",
                "tells whether asserts stay in the graph"),
    Requirement(f"{_DYNAMO}.compiled_autograd:in_compiled_autograd_region",
                "finds backward passes"),
    # Exceptions
    Requirement(f"{_DYNAMO}.exc:TorchDynamoException", "is the base of all exceptions of Dynamo"),
    Requirement(f"{_DYNAMO}.exc:Unsupported", "is a graph break"),
    Requirement(f"{_DYNAMO}.exc:UserError", "is a graph break because of data"),
    Requirement(f"{_DYNAMO}.exc:TorchRuntimeError", "is an operation that fails on fake tensors"),
    # Operators
    Requirement("torch:nonzero_static", "is `nonzero` with a given size"),
    Requirement("torch._ops:OpOverload", "is an operator in a graph"),
    Requirement("torch:ops.aten.add_.Tensor._schema.is_mutable",
                "tells whether an operator mutates an argument"),
    Requirement("torch:Tensor._version", "counts the mutations of a tensor"),
    Requirement("torch._C:_VariableFunctions", "holds functions of torch"),
    Requirement("torch._C:_nn", "holds functions of torch.nn.functional"),
    Requirement("torch._C:_special", "holds functions of torch.special"),
    Requirement("torch._C:_linalg", "holds functions of torch.linalg"),
    Requirement(f"{_DYNAMO}.utils:numpy_operator_wrapper", "is a NumPy operator in a graph"),
    Requirement(f"{_DYNAMO}.utils:numpy_to_tensor_wrapper", "is a NumPy function in a graph"),
    # Evaluation on real tensors
    Requirement("torch.utils._python_dispatch:TorchDispatchMode", "checks each operator"),
    Requirement("torch.utils._python_dispatch:_disable_current_modes", "leaves tracing modes"),
    Requirement("torch._C:_DisableTorchDispatch", "leaves dispatch modes of the program"),
    Requirement("torch._C:_DisableAutocast", "computes in the types that were traced"),
    Requirement("torch._C:DisableTorchFunction", "leaves function modes of the program"),
)  # fmt: skip


def unsupported_reason() -> str | None:
    """Return one line that says why the installed torch is not supported; None if it is."""
    try:
        version = importlib.metadata.version("torch")
    except importlib.metadata.PackageNotFoundError:
        return "torch is not installed; run pip install torch"
    if release_of(version) not in RELEASES:
        tested = ", ".join(f"{major}.{minor}" for major, minor in RELEASES)
        return (
            f"value guards are tested on torch {tested} only, not on {version}; "
            "use one of these releases or compile without value guards"
        )
    for requirement in REQUIREMENTS:
        if not _is_met(requirement):
            return (
                f"value guards need {requirement.name.replace(':', '.')}, which this build of "
                f"torch {version} lacks or changes; use an unmodified build of torch"
            )
    return None


def _is_met(requirement: Requirement) -> bool:
    try:
        value = _resolve(requirement.name)
    except (ImportError, AttributeError):
        return False
    if requirement.parameters is None:
        return True
    return tuple(inspect.signature(value).parameters) == requirement.parameters


def _resolve(name: str) -> Any:
    """Return the object at `module:attribute.attribute`."""
    module, path = name.split(":")
    value: Any = importlib.import_module(module)
    for attribute in path.split("."):
        value = getattr(value, attribute)
    return value
