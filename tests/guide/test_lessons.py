"""Every lesson runs, and shows what running it prints."""

from __future__ import annotations

import re

import pytest
import torch

from fullgraph.guide.lesson import LESSONS, Lesson, all_lessons, question_of, with_results
from fullgraph.guide.running import results_in_a_fork
from fullgraph.installed_torch import release_of
from fullgraph.registry.pages import Library
from tests.fix.run_case import index_what_is_loaded

# The topics of PyTorch's programming model, of its pages about dynamic shapes, and of the one about
# error_on_graph_break.
TOPICS = {
    "dynamo-tracing", "graph-breaks", "guards", "recompilations", "dynamic-shapes",
    "dynamic-shapes-core-concepts", "zero-one-specialization", "backed-and-unbacked-symbols",
    "guard-on-data-dependent-errors", "constraint-violations", "dynamic-shapes-logs",
    "fullgraph-true", "strategy-rewrite", "strategy-escape-hatch", "strategy-do-not-compile",
    "common-graph-breaks", "incorrect-code", "data-dependent-operations", "printing-and-logging",
    "nonstrict-trace", "custom-operators", "fullgraph-false", "where-to-apply-compile",
    "compile-model-or-model-compile", "disabling-and-suppressing-errors", "error-on-graph-break",
    "nested-graph-breaks", "skipped-functions", "break-in-a-loop", "break-in-a-context-manager",
    "break-in-a-try-block", "recompilation-limit-skips", "compiler-errors",
    "dealing-with-skipped-functions", "non-strict-model", "pure-functions", "no-explicit-input",
    "side-effect-printing", "side-effect-list-mutation", "no-data-ptr",
    "specialization-and-constants", "dealing-with-recompilations", "is-dynamic-enabled",
    "constants-as-tensors", "cache-size-limit", "break-to-make-recompiling-cheap", "observability",
    "torch-trace", "torch-logs", "tlparse-or-torch-logs", "reporting-issues", "ablation",
    "bisecting", "reproducer",
}  # fmt: skip
# The release whose output the lessons show.
WRITTEN_WITH = (2, 13)
LESSON = pytest.mark.parametrize("lesson", all_lessons(), ids=lambda lesson: lesson.id)
# So many words in a row are somebody's sentence.
_LONGEST_QUOTE = 8


def text_of(lesson: Lesson) -> str:
    return (LESSONS / f"{lesson.number:02}-{lesson.id}.md").read_text("utf-8")


@LESSON
@pytest.mark.skipif(
    release_of(torch.__version__) != WRITTEN_WITH, reason="other releases print other lines"
)
def test_the_stored_output_is_what_the_code_prints(lesson: Lesson) -> None:
    index_what_is_loaded()
    expected = with_results(text_of(lesson), results_in_a_fork(lesson))
    assert text_of(lesson) == expected, "python -m tools.refresh_lessons writes it again"


@LESSON
def test_a_lesson_is_complete(lesson: Lesson) -> None:
    assert {"text", "code", "output", "quiz"} <= {part.kind for part in lesson.parts}
    assert all(question_of(part).why for part in lesson.parts if part.kind == "quiz")
    assert lesson.minutes > 0


@LESSON
def test_its_breaks_are_in_the_registry(lesson: Lesson) -> None:
    named = {*lesson.breaks, *re.findall(r"\bGB\d{4,}\b", text_of(lesson))}
    assert named <= set(Library().main.entries)


@LESSON
def test_no_sentence_of_torch_is_stored(lesson: Lesson) -> None:
    own = _words(text_of(lesson))
    runs = {tuple(own[at : at + _LONGEST_QUOTE]) for at in range(len(own))}
    for newest, *_ in Library().main.entries.values():
        for text in (newest.explanation, *newest.hints):
            theirs = _words(text)
            for at in range(len(theirs) - _LONGEST_QUOTE + 1):
                assert tuple(theirs[at : at + _LONGEST_QUOTE]) not in runs


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def test_every_topic_has_a_lesson() -> None:
    assert {topic for lesson in all_lessons() for topic in lesson.topics} == TOPICS


def test_the_numbers_are_the_reading_order() -> None:
    assert [lesson.number for lesson in all_lessons()] == list(range(1, len(all_lessons()) + 1))
