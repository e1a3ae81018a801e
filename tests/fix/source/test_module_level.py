"""What a fix adds at the top of a file."""

from __future__ import annotations

import pytest

from fullgraph.fix.source.declined import Declined
from fullgraph.fix.source.edits import apply_edits
from fullgraph.fix.source.module_level import insert_at_top, insert_settings

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


def test_torch_is_not_imported_before_what_stands_in_front_of_its_first_import() -> None:
    text = 'import os\nos.environ["OMP_NUM_THREADS"] = "1"\nfrom torch import nn\n\nx = nn\n'
    after = apply_edits(text, insert_at_top(text, ("import torch",), ()))
    assert after.splitlines()[1:4] == [
        'os.environ["OMP_NUM_THREADS"] = "1"',
        "from torch import nn",
        "import torch",
    ]


def test_torch_goes_below_the_environment_if_the_file_does_not_import_it() -> None:
    text = 'import os\nos.environ["A"] = "1"\nimport models\n\n\ndef f():\n    import torch\n'
    after = apply_edits(text, insert_at_top(text, ("import torch",), ()))
    assert after.splitlines()[2:4] == ["import models", "import torch"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('"""Doc."""\nfrom __future__ import annotations\n\nx = 1\n', 3),
        ("#!/usr/bin/env python3\n# -*- coding: latin-1 -*-\nx = 1\n", 3),
        ("# a comment on x\nx = 1\n", 1),
        ('"""Doc\nin two lines."""\nx = 1\n', 3),
        ("try:\n    import torch\nexcept ImportError:\n    torch = None\nx = 1\n", 5),
        ("import torch; torch.manual_seed(0)\nx = 1\n", 2),
        ("import torch, \\\n    sys\n\x0c\nx = 1\n", 3),
        ("x = 1\nif __name__ == '__main__':\n    import torch\n", 1),
    ],
)
def test_where_an_import_goes(text: str, line: int) -> None:
    after = apply_edits(text, insert_at_top(text, ("import torch._dynamo",), ()))
    assert after.split("\n")[line - 1] == "import torch._dynamo"
    compile(after, "file", "exec")


def test_a_definition_goes_below_what_binds_the_names_that_it_uses() -> None:
    text = "import torch\n\ntry:\n    import zlib\nexcept ImportError:\n    zlib = None\n\nx = 1\n"
    after = apply_edits(text, insert_at_top(text, (), ('\nCRC = zlib.crc32(b"a")',)))
    assert after.splitlines()[5:8] == ["    zlib = None", "", 'CRC = zlib.crc32(b"a")']
    # Names that the body of a function uses are looked up when it runs.
    below = f"{text}\n\ndef later():\n    pass\n"
    helper = "\n\ndef helper(a=zlib):\n    return later(a)"
    after = apply_edits(below, insert_at_top(below, (), (helper,)))
    assert after.index("def helper") < after.index("x = 1")


def test_an_import_does_not_take_the_name_of_something_else() -> None:
    text = "import mytorch as torch\n\nx = torch\n"
    with pytest.raises(Declined, match="`torch` is not the module torch in this file"):
        insert_at_top(text, ("import torch",), ())


def test_settings_go_below_the_first_import_of_torch() -> None:
    """Not below a late import, and a comment is not a setting."""
    statement = "torch._dynamo.config.capture_scalar_outputs = True"
    text = f"import torch\nimport math\n# {statement}\n\nf = torch.compile(math.sin)\nimport sys\n"
    edits = insert_settings(text, ["import torch._dynamo"], [statement])
    assert apply_edits(text, edits).splitlines() == [
        "import torch",
        "import math",
        "import torch._dynamo",
        "",
        statement,
        "",
        f"# {statement}",
        "",
        "f = torch.compile(math.sin)",
        "import sys",
    ]
