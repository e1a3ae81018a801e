"""For random programs, the line that is said to have bound an argument is the one that did.

Every statement of a random program that binds a name binds it to its own line number, so that the
value of an argument tells which line bound it last.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.analysis.user_lines.running_programs import Answer, StopError, answers_of

NAMES = ("a", "b")
DEPTH = 2
MOST_STATEMENTS = 3
# Endless loops end with this many decisions.
MOST_DECISIONS = 200


class _Program:
    """Writes a random program, line by line."""

    def __init__(self, draw: st.DrawFn, straight: bool = False) -> None:
        self._draw = draw
        self._straight = straight
        self._loops = 0
        self.lines = ["def f(x): report(x)"]
        self._add(0, "a = {line}")
        self._add(0, "b = {line}")

    def write(self) -> str:
        is_function = self._choose((True, False))
        if is_function:
            self._add(0, "def train(a, c):")
            self._add(1, "b = {line}")
            self._block(1, DEPTH)
            self._add(0, self._choose(("train(a, b)", "train({line}, b)", "train(c=a, a=b)")))
        else:
            self._block(0, DEPTH)
        return "\n".join(self.lines) + "\n"

    def _add(self, indent: int, text: str) -> None:
        line = len(self.lines) + 1
        self.lines.append("    " * indent + text.replace("{line}", str(line)))

    def _choose(self, options: tuple[object, ...]) -> object:
        return self._draw(st.sampled_from(options))

    def _block(self, indent: int, depth: int) -> None:
        for _ in range(self._draw(st.integers(1, MOST_STATEMENTS))):
            self._statement(indent, depth)
        self._add(indent, f"f({self._choose(NAMES)})")

    def _statement(self, indent: int, depth: int) -> None:
        simple = ("assign", "call", "augment", "unpack", "walrus", "loop")
        compound = ("if", "for", "while", "try", "finally", "with", "maybe", "leave")
        kind = self._choose(simple if self._straight or not depth else simple + compound)
        getattr(self, f"_{kind}")(indent, depth - 1)

    def _assign(self, indent: int, _: int) -> None:
        self._add(indent, f"{self._choose(NAMES)} = {{line}}")

    def _call(self, indent: int, _: int) -> None:
        self._add(indent, f"f({self._choose(('x=', ''))}{self._choose(NAMES)})")

    def _augment(self, indent: int, _: int) -> None:
        name = self._choose(NAMES)
        self._add(indent, f"{name} -= {name} - {{line}}")

    def _unpack(self, indent: int, _: int) -> None:
        self._add(indent, "(a, _), b = ({line}, 0), {line}")

    def _walrus(self, indent: int, _: int) -> None:
        name = self._choose(NAMES)
        texts = (f"({name} := {{line}})", f"decide() and ({name} := {{line}})")
        self._add(indent, texts[0] if self._straight else self._choose(texts))

    def _loop(self, indent: int, _: int) -> None:
        name = self._choose(NAMES)
        self._add(indent, f"for {name} in [{{line}}]: f({name})")
        self._add(indent, f"[f({name}) for {name} in [{{line}}]]")
        self._add(indent, f"{name} = {{line}}")

    def _if(self, indent: int, depth: int) -> None:
        self._add(indent, "if decide():")
        self._block(indent + 1, depth)
        if self._choose((True, False)):
            self._add(indent, "else:")
            self._block(indent + 1, depth)

    def _for(self, indent: int, depth: int) -> None:
        name = self._choose(NAMES)
        self._add(indent, f"for {name} in [{{line}}] * count():")
        self._inside_loop(indent, depth)

    def _while(self, indent: int, depth: int) -> None:
        tests = ("decide()", "True", f"decide() or ({self._choose(NAMES)} := {{line}}) < count()")
        self._add(indent, f"while {self._choose(tests)}:")
        self._inside_loop(indent, depth)

    def _inside_loop(self, indent: int, depth: int) -> None:
        self._loops += 1
        self._block(indent + 1, depth)
        self._loops -= 1
        if self._choose((True, False)):
            self._add(indent, "else:")
            self._block(indent + 1, depth)

    def _try(self, indent: int, depth: int) -> None:
        self._add(indent, "try:")
        self._block(indent + 1, depth)
        self._add(indent, "except ValueError:")
        self._block(indent + 1, depth)
        if self._choose((True, False)):
            self._add(indent, "else:")
            self._block(indent + 1, depth)

    def _finally(self, indent: int, depth: int) -> None:
        self._add(indent, "try:")
        self._block(indent + 1, depth)
        self._add(indent, "finally:")
        self._block(indent + 1, depth)

    def _with(self, indent: int, depth: int) -> None:
        name = self._choose(NAMES)
        manager = self._choose(("ignoring", "plain"))
        self._add(indent, f"with {manager}({{line}}) as {name}:")
        self._block(indent + 1, depth)

    def _maybe(self, indent: int, _: int) -> None:
        self._add(indent, "may_raise()")

    def _leave(self, indent: int, _: int) -> None:
        if self._loops:
            self._add(indent, f"if decide(): {self._choose(('break', 'continue'))}")


@contextlib.contextmanager
def ignoring(line: int) -> Iterator[int]:
    """Return the line, and ignore what is raised inside."""
    with contextlib.suppress(ValueError):
        yield line


@contextlib.contextmanager
def plain(line: int) -> Iterator[int]:
    """Return the line."""
    yield line


def run(program: str, decisions: list[bool]) -> list[Answer]:
    """Return the answers of all calls until the program ends or has made too many decisions."""
    found: list[Answer] = []
    choices = itertools.islice(itertools.cycle(decisions), MOST_DECISIONS)

    def decide() -> bool:
        for choice in choices:
            return choice
        raise StopError

    def may_raise() -> None:
        if decide():
            raise ValueError

    def count() -> int:
        return 2 * decide()

    with contextlib.suppress(StopError, ValueError):
        answers_of(
            program, decide=decide, may_raise=may_raise, count=count,
            ignoring=ignoring, plain=plain, into=found,
        )  # fmt: skip
    return found


@st.composite
def programs(draw: st.DrawFn, straight: bool = False) -> str:
    return _Program(draw, straight).write()


@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
@given(programs(), st.lists(st.booleans(), min_size=1, max_size=12))
def test_an_answer_is_the_line_that_execution_shows(program: str, decisions: list[bool]) -> None:
    for answer in run(program, decisions):
        assert answer.line is None or answer.line.line == answer.value, program


@settings(deadline=None, max_examples=15, suppress_health_check=list(HealthCheck))
@given(programs(straight=True))
def test_statements_without_branches_always_have_an_answer(program: str) -> None:
    for answer in run(program, [True]):
        assert answer.line is not None, program
        assert answer.line.line == answer.value, program


@pytest.mark.parametrize("decision", [True, False])
def test_the_oracle_itself_tells_the_line(decision: bool) -> None:
    found = run("def f(x): report(x)\na = 2\nif decide(): a = 3\nf(a)\n", [decision])
    assert [answer.value for answer in found] == [3 if decision else 2]
