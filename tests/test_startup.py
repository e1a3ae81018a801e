"""The command line starts fast because it imports almost nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

SLOW = (
    "torch", "libcst", "jinja2", "numpy", "transformers", "asyncio", "packaging", "platformdirs",
    "urllib3", "pydantic", "pydantic_ai", "openai", "anthropic", "google", "httpx2",
)  # fmt: skip


def imported(code: str) -> set[str]:
    output = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    return set(output.splitlines()[-1].split())


def test_importing_fullgraph_imports_nothing_slow() -> None:
    modules = imported("import fullgraph")
    assert not modules & {*SLOW, "msgspec", "click"}


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["run", "--help"],
        ["report", "--help"],
        ["recompiles", "--help"],
        ["explain", "--help"],
        ["ai", "--help"],
    ],
)
def test_help_imports_nothing_slow(arguments: list[str]) -> None:
    modules = imported(
        "from fullgraph.commands import cli\n"
        f"cli({arguments!r}, standalone_mode=False, prog_name='fullgraph')"
    )
    assert not modules & {*SLOW, "msgspec"}


def test_showing_a_prompt_imports_neither_torch_nor_a_provider() -> None:
    modules = imported(
        "from fullgraph.commands import cli\n"
        "cli(['explain', '--ai', 'GB0124', '--show-prompt'], standalone_mode=False)"
    )
    assert not modules & {"torch", "numpy", "pydantic_ai", "openai", "anthropic", "httpx2"}


def test_the_public_names_are_there() -> None:
    import fullgraph

    assert set(dir(fullgraph)) == set(fullgraph.__all__)
    assert all(getattr(fullgraph, name) for name in fullgraph.__all__)
    assert not hasattr(fullgraph, "no_such_name")
