"""Call the function of a program with the inputs that its header hides; print the outcomes.

    python -m bench._hidden_inputs PROGRAM HEADER eager|BACKEND OUTPUT

PROGRAM is the original or the fixed file. The header of HEADER has a list HIDDEN of functions that
get the module and its function `f`. The outcomes go to the file OUTPUT.
"""

from __future__ import annotations

import importlib.util
import sys
import warnings
from pathlib import Path
from typing import Any

import torch

from fullgraph.outcomes.observe import CallOutcome, capture_output, flattened

_MARK = "#   "


def hidden_calls(header: str) -> list[Any]:
    """Return the functions of the list HIDDEN in the comments at the top of a program."""
    lines = header.split("# REPRODUCE:", 1)[1].splitlines()[2:]
    code = []
    for line in lines:
        if not line.startswith(_MARK):
            break
        code.append(line.removeprefix(_MARK))
    namespace: dict[str, Any] = {"torch": torch}
    exec("\n".join(code), namespace)
    return list(namespace["HIDDEN"])


def _load(path: str) -> Any:
    spec = importlib.util.spec_from_file_location("prog", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["prog"] = module
    spec.loader.exec_module(module)
    return module


def outcome_of(path: str, call: Any, backend: str) -> CallOutcome:
    """Return what one hidden call of a program does, in eager mode or with a backend."""
    outcome = CallOutcome()
    torch.manual_seed(0)
    try:
        module = _load(path)
        function = module.f if backend == "eager" else torch.compile(module.f, backend=backend)
        with capture_output() as output:
            result = call(module, function)
        # Hidden calls that open a file need not close it.
        outcome.output = [line for line in output if "unclosed file" not in line]
        outcome.outputs = {**flattened(result), **_layout(result)}
    except Exception as error:
        outcome.raised, outcome.message = type(error).__name__, str(error)
    return outcome


def _layout(result: Any) -> dict[str, str]:
    tensors = result if isinstance(result, tuple | list) else [result]
    return {
        f"layout {number}": f"{each.dtype} {each.stride()} {each.requires_grad}"
        for number, each in enumerate(tensors)
        if isinstance(each, torch.Tensor)
    }


def main(path: str, header: str, backend: str, output: str) -> None:
    """Write the outcomes of all hidden calls."""
    sys.path.insert(0, str(Path(path).parent))
    warnings.simplefilter("ignore")
    outcomes = []
    for call in hidden_calls(Path(header).read_text()):
        torch._dynamo.reset()
        outcomes.append(outcome_of(path, call, backend))
    torch.save(outcomes, output)


if __name__ == "__main__":
    main(*sys.argv[1:])
