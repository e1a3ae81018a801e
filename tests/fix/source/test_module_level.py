"""What a fix adds at the top of a file."""

from __future__ import annotations

import pytest

from fullgraph.fix.source.edits import apply_edits
from fullgraph.fix.source.module_level import insert_at_top

HELPER = "\n\ndef helper():\n    pass"


@pytest.mark.parametrize("blank_lines", [0, 1, 2, 3])
def test_two_blank_lines_follow_an_inserted_function(blank_lines: int) -> None:
    below = "\n" * blank_lines + "@decorated\ndef f():\n    pass\n"
    text = f"import torch\n{below}"
    after = apply_edits(text, insert_at_top(text, (), (HELPER,)))
    gap = "\n" * max(blank_lines, 2)
    assert after == f"import torch\n{HELPER}\n{gap}@decorated\ndef f():\n    pass\n"


def test_a_blank_line_follows_an_inserted_statement() -> None:
    text = "import torch\ndef f():\n    pass\n"
    after = apply_edits(text, insert_at_top(text, (), ("\nCOUNT = 4",)))
    assert after == "import torch\n\nCOUNT = 4\n\ndef f():\n    pass\n"


def test_nothing_follows_at_the_end_of_a_file() -> None:
    text = "import torch\n"
    assert apply_edits(text, insert_at_top(text, (), (HELPER,))) == f"import torch\n{HELPER}\n"
