"""Run a program, then evaluate expressions in its namespace and save their results.

    python -m bench._more_calls PROGRAM RESULTS EXPRESSION...

The program's own arguments are empty. `TORCH_COMPILE_DISABLE=1` in the environment makes it an
eager run, with which a run of compiled code is compared.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import torch


def main() -> None:
    """Save the results of the expressions on the command line."""
    program, results, *expressions = sys.argv[1:]
    namespace = _run(Path(program))
    torch.save([_evaluate(each, namespace) for each in expressions], results)


def _run(program: Path) -> dict[str, Any]:
    """Run a program as `__main__` and return its namespace."""
    module = ModuleType("__main__")
    module.__file__ = str(program)
    sys.modules["__main__"] = module
    sys.argv = [str(program)]
    sys.path.insert(0, str(program.parent))
    exec(compile(program.read_text(), program, "exec"), module.__dict__)
    return module.__dict__


def _evaluate(expression: str, namespace: dict[str, Any]) -> Any:
    # Both runs draw the same inputs, however many random numbers the program has drawn.
    torch.manual_seed(1)
    return eval(expression, namespace)


if __name__ == "__main__":
    main()
