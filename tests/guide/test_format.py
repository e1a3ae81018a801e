"""The format of lessons: reading, writing, markers, pictures and normalized output."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fullgraph.errors import FullgraphError
from fullgraph.guide.lesson import lesson_named, parse_lesson, question_of, with_results
from fullgraph.guide.normalize import normalized
from fullgraph.guide.picture import draw
from fullgraph.guide.running import LessonFailedError, results_in_a_fork, results_of
from fullgraph.guide.wording import filled_in, with_markers

HEAD = '+++\ntitle = "T"\nminutes = 3\ntopics = ["guards"]\n+++\n'
# Without line ends of other kinds: lines are what `splitlines` says.
CHARACTERS = st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"], exclude_characters="`")
LINES = st.lists(st.text(CHARACTERS, max_size=20), min_size=1, max_size=4).map("\n".join)
PARTS = st.tuples(st.sampled_from(["text", "python", "quiz"]), LINES.filter(str.strip))


@given(st.lists(PARTS, max_size=5))
def test_refreshing_changes_only_outputs_and_pictures(parts: list[tuple[str, str]]) -> None:
    blocks = [text if kind == "text" else f"```{kind}\n{text}\n```" for kind, text in parts]
    text = HEAD + "\n" + "\n\n".join(blocks) + "\n"
    results = [f"printed {number}\n" for number, (kind, _) in enumerate(parts) if kind == "python"]
    refreshed = with_results(text, list(results))
    assert with_results(refreshed, list(results)) == refreshed
    before = [part for part in parse_lesson("a", 1, text).parts if part.kind != "output"]
    after = [part for part in parse_lesson("a", 1, refreshed).parts if part.kind != "output"]
    assert [(each.kind, each.text.split()) for each in before] == [
        (each.kind, each.text.split()) for each in after
    ]
    outputs = [p.text for p in parse_lesson("a", 1, refreshed).parts if p.kind == "output"]
    assert outputs == results


def test_code_is_one_program_whose_lines_are_named(tmp_path: Path) -> None:
    blocks = "First.\n```python\nx = 1\n```\n```python raises\ny = x\nraise ValueError(y)\n```\n"
    lesson = parse_lesson("two-blocks", 1, HEAD + blocks)
    assert lesson.program == "x = 1\n\n\ny = x\nraise ValueError(y)\n"
    assert list(lesson.code_with_lines()) == [(1, 1), (2, 4)]
    assert results_of(lesson, tmp_path) == ["", "ValueError: 1\n"]
    assert (tmp_path / "two_blocks.py").read_text() == lesson.program


def test_a_lesson_that_does_not_raise_as_it_says(tmp_path: Path) -> None:
    lesson = parse_lesson("sample", 1, f"{HEAD}\n```python raises\nx = 1\n```\n")
    with pytest.raises(LessonFailedError, match="line 1 raises nothing"):
        results_of(lesson, tmp_path)


def test_a_fork_changes_nothing_here_and_tells_why_it_failed() -> None:
    code = "import torch\ntorch.set_default_dtype(torch.float64)\nprint(torch.ones(1).dtype)"
    lesson = parse_lesson("a", 1, f"{HEAD}```python\n{code}\n```\n")
    assert results_in_a_fork(lesson) == ["torch.float64\n"]
    assert torch.get_default_dtype() is torch.float32
    with pytest.raises(LessonFailedError, match="ZeroDivisionError"):
        results_in_a_fork(parse_lesson("a", 1, HEAD + "```python\n1 / 0\n```\n"))


def test_an_error_of_torch_is_stored_as_a_marker(tmp_path: Path) -> None:
    body = (
        "```python raises\nimport torch\n\n\ndef f(x):\n    torch._dynamo.graph_break()\n"
        "    return x\n\n\ntorch.compile(f, backend='eager', fullgraph=True)(torch.ones(2))\n```\n"
    )
    (stored,) = results_of(parse_lesson("a", 1, HEAD + body), tmp_path)
    assert stored.startswith("Unsupported: {{GB")
    assert "{{" not in filled_in(stored)


def test_words_of_an_entry_are_stored_as_markers_and_filled_in() -> None:
    shown = filled_in("GB0059 - {{GB0059.type}}")
    assert shown != "GB0059 - {{GB0059.type}}"
    assert with_markers(shown) == "GB0059 - {{GB0059.type}}"


def test_output_is_the_same_everywhere(tmp_path: Path) -> None:
    text = f"{tmp_path}/a.py took 3.25 ms  \n<f at 0x7f00aa11bb22> 12 graphs\n"
    assert normalized(text, tmp_path) == "a.py took … ms\n<f at 0x…> 12 graphs\n"


def looping(x: torch.Tensor) -> torch.Tensor:
    for _ in range(2):
        x = x + 1
        torch._dynamo.graph_break()
    return x * 2


def straight(x: torch.Tensor) -> torch.Tensor:
    scale = 2
    x = torch.relu(x)
    torch._dynamo.graph_break()
    return x * scale


def test_a_picture_has_the_graph_of_each_line() -> None:
    text = draw(straight, torch.ones(2))
    assert "graph 1 ┃     x = torch.relu(x)" in text
    assert "  eager ┆     torch._dynamo.graph_break()" in text
    assert "graph 2 ┃     return x * scale" in text
    assert "│     scale = 2" in text


def test_a_skipped_function_is_eager_from_top_to_bottom() -> None:
    assert "eager ┆     return x * 2" in draw(looping, torch.ones(2))


def test_names_of_lessons() -> None:
    assert lesson_named("graph-breaks").number == lesson_named("2").number == 2
    with pytest.raises(FullgraphError, match="did you mean graph-breaks"):
        lesson_named("graph-break")


def test_questions() -> None:
    lesson = parse_lesson("a", 1, f'{HEAD}```quiz\nquestion = "q"\nanswer = "1"\nwhy = "w"\n```\n')
    assert question_of(lesson.parts[0]).answer == "1"
