"""Places in a fix report are places of the program as it is."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fullgraph.fix.report.build import line_before


@given(
    st.lists(st.sampled_from(["kept", "gone", "new"]), min_size=1, max_size=12).filter(
        lambda lines: "kept" in lines
    )
)
def test_a_line_that_is_kept_is_found_again(kinds: list[str]) -> None:
    rows = [(kind, f"{kind} {number}\n") for number, kind in enumerate(kinds)]
    original = [line for kind, line in rows if kind != "new"]
    text = [line for kind, line in rows if kind != "gone"]
    for number, line in enumerate(text, 1):
        if line.startswith("kept"):
            before = line_before("".join(original), "".join(text), number)
            assert original[before - 1] == line
