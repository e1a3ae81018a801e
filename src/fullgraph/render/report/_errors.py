"""What the errors of a compile mean and what to do about them, in our own words."""

from __future__ import annotations

import re
from typing import NamedTuple

from fullgraph.model.report import Failure, Report

_NAME = re.compile(r"(?:[A-Za-z_]\w*\.)*([A-Za-z_]\w*):\s*")


class Meaning(NamedTuple):
    """What an error means, and what to do."""

    means: str
    advice: str


_EAGER_FIRST = (
    'Run it without torch.compile (torch.compiler.set_stance("force_eager")): it most likely '
    "raises the same error, with a shorter traceback."
)
_LIMIT = Meaning(
    "The function was compiled too often, and fullgraph=True or a setting makes that an error.",
    "Make the values that change tensors, or their sizes dynamic (torch.compile(dynamic=True)); "
    "the failed guards are listed under recompiles. Otherwise raise "
    "torch._dynamo.config.recompile_limit.",
)
_BACKEND = Meaning(
    "Dynamo traced the function into a graph, and the backend, which turns a graph into code, "
    "failed.",
    'Compile with backend="eager" and then with backend="aot_eager": if both work, the code '
    "generation of your backend fails; if only the first one works, an operator or its gradient "
    "does. Report it to the authors of the part that fails.",
)
# The first entry whose pattern matches the name of the exception.
_MEANINGS = (
    (r"BackendCompilerFailed|InductorError|LoweringException|ShortenTraceback", _BACKEND),
    (
        r"InvalidCxxCompiler|CppCompileError|CompilationError|TritonMissing",
        Meaning(
            "The backend generated code, and the compiler for that code is missing or rejected it.",
            'Install a C++ compiler (or Triton, for a GPU), or use backend="aot_eager", which '
            "generates no code.",
        ),
    ),
    (r"RecompileLimit|CacheLimit", _LIMIT),
    (
        r"TorchRuntimeError|FakeTensorError|MetadataMismatchError",
        Meaning(
            "An operation fails for these inputs. Dynamo tries each operation on fake tensors, "
            "which have a shape but no data.",
            f"{_EAGER_FIRST} If it does not, the operator needs a fake implementation "
            "(torch.library.register_fake).",
        ),
    ),
    (
        r"UncapturedHigherOrderOpError",
        Meaning(
            "A function that was given to a higher-order operator, such as torch.cond, cannot be "
            "captured, and such an operator cannot run in eager mode instead.",
            "Make the function pure: tensors in, tensors out, without side effects.",
        ),
    ),
    (
        r"ConstraintViolationError",
        Meaning(
            "An input was marked as dynamic, but the function works for one size only.",
            "Remove torch._dynamo.mark_dynamic for this size, or the code that compares it with a "
            "number.",
        ),
    ),
    (
        r"DataDependent|DynamicOutputShape|UnbackedSymbol|PendingUnbacked",
        Meaning(
            "The code needs the value of a tensor, which is not known while compiling.",
            "Keep the value a tensor, or state what is true for it with torch._check.",
        ),
    ),
    (
        r"UserError|Unsupported",
        Meaning(
            "The program uses torch.compile or one of its functions in a way that Dynamo rejects.",
            "Change the call that the message names.",
        ),
    ),
    (
        r"InternalTorchDynamoError|AssertionError",
        Meaning(
            "Dynamo itself failed: the program need not be wrong.",
            "Exclude this function with torch.compiler.disable, try a newer torch, and report it "
            "to PyTorch.",
        ),
    ),
)
_OTHER = Meaning(
    "An error that is not a graph break ended the compile, so the program got it.",
    f"{_EAGER_FIRST} If it does not, exclude the function with torch.compiler.disable and report "
    "it to PyTorch.",
)


def raised_errors(report: Report) -> dict[Failure, int]:
    """Return the errors that reached the program, and how often each of them did.

    A suppressed error skips a frame, and the list of skipped frames has it.
    """
    found: dict[tuple[str, str, int], tuple[Failure, int]] = {}
    for failure in report.errors:
        if failure.outcome == "raised":
            key = (failure.error, failure.file, failure.line)
            first, number = found.get(key, (failure, 0))
            found[key] = (first, number + 1)
    return dict(found.values())


def meaning_of(failure: Failure) -> Meaning:
    """Return what an error means and what to do about it."""
    name = type_of(failure)
    return next((meaning for pattern, meaning in _MEANINGS if re.search(pattern, name)), _OTHER)


def type_of(failure: Failure) -> str:
    """Return the name of the exception; empty if it is not known."""
    found = _NAME.match(failure.error)
    return failure.type or (found[1] if found else "")


def message_of(failure: Failure) -> str:
    """Return the message of the error without the name of the exception."""
    found = _NAME.match(failure.error)
    is_name = found is not None and found[1] == type_of(failure).rpartition(".")[2]
    return failure.error[found.end() :] if found and is_name else failure.error
