"""The shell completion that docs/completion.md describes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.conftest import Cli

DOCUMENT = Path(__file__).parents[2] / "docs" / "completion.md"


def completed(cli: Cli, *words: str) -> list[str]:
    """Return what bash would offer for the last word."""
    cli.environment |= {
        "_FULLGRAPH_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(len(words) - 1),
    }
    return [line.partition(",")[2] for line in cli().stdout.splitlines()]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_documented_shell_gets_a_script(cli: Cli, shell: str) -> None:
    assert f"_FULLGRAPH_COMPLETE={shell}_source fullgraph" in DOCUMENT.read_text("utf-8")
    cli.environment["_FULLGRAPH_COMPLETE"] = f"{shell}_source"
    script = cli()
    assert script.returncode == 0
    assert "_fullgraph_completion" in script.stdout


def test_bash_can_load_the_script(cli: Cli) -> None:
    cli.environment["_FULLGRAPH_COMPLETE"] = "bash_source"
    command = f"{cli().stdout}\ncomplete -p fullgraph"
    loaded = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert "_fullgraph_completion" in loaded.stdout


def test_commands_and_options_are_completed(cli: Cli) -> None:
    assert completed(cli, "fullgraph", "re") == ["recompiles", "registry", "report"]
    assert "--format" in completed(cli, "fullgraph", "run", "--f")
    assert "sync" in completed(cli, "fullgraph", "registry", "s")
