"""Which line last wrote a value that is guarded, as far as the source alone tells."""

from __future__ import annotations

import textwrap

import pytest

from fullgraph.analysis.user_lines.source_file import SourceFile
from fullgraph.analysis.user_lines.written import WriterFinder
from fullgraph.model.events import Code, GuardChange
from fullgraph.python_source import parse

FILE = "program.py"
SCALE = GuardChange("int", "closure", "L['scale']", "scale", before="1", now="3")
RATE = GuardChange(
    "int", "attribute", "L['self'].rate", "self.rate", before="1", now="2", holder="main.Model"
)


def line_of_writer(program: str, change: GuardChange) -> str | None:
    """Return the content of the line, without comments, that is said to have written a value."""
    text = textwrap.dedent(program)
    tree = parse(text)
    assert tree is not None
    lines = text.splitlines()
    start = next(number for number, line in enumerate(lines, 1) if "# compiled" in line)
    found = WriterFinder([SourceFile(FILE, text, tree)], []).find(Code(FILE, start, "f"), change)
    return None if found is None else lines[found.line - 1].partition("#")[0].strip()


MAKE = """
    def make(scale):
        def f(x):  # compiled
            return x * scale
        return f
"""


@pytest.mark.parametrize(
    ("calls", "line"),
    [
        ("g = make(3)", "g = make(3)"),
        # Each call makes another closure.
        ("g = make(3)\n    h = make(4)", None),
        ("functions = list(map(make, [1, 3]))", None),
    ],
)
def test_a_closure_variable_that_is_a_parameter_comes_from_the_only_call(
    calls: str, line: str | None
) -> None:
    assert line_of_writer(f"{MAKE}\n    {calls}\n", SCALE) == line


def test_a_closure_variable_that_another_function_writes() -> None:
    program = """
    def main():
        scale = 1
        def f(x):  # compiled
            return x * scale
        def raise_scale():
            nonlocal scale
            scale = scale + 2
        return f, raise_scale
    """
    assert line_of_writer(program, SCALE) == "scale = scale + 2"


@pytest.mark.parametrize(
    ("statements", "line"),
    [
        ("model.rate = 2", "model.rate = 2"),
        ("model.rate += 1", "model.rate += 1"),
        # Another constant than the new value.
        ("model.rate = 5\n    model.rate = 2", "model.rate = 2"),
        # Both could have written it.
        ("model.rate = two()\n    model.rate = 2", None),
        ("setattr(model, name, 2)", None),
        ("model.rate = 2\n    setattr(model, name, 2)", None),
        ("model.rate = 2\n    setattr(model, 'depth', 2)", "model.rate = 2"),
    ],
)
def test_an_attribute_has_the_only_line_that_can_have_written_it(
    statements: str, line: str | None
) -> None:
    program = f"""
    class Model:
        def __init__(self):
            self.rate = 1
        def f(self, x):  # compiled
            return x * self.rate
    model = Model()
    {statements}
    """
    assert line_of_writer(program, RATE) == line


def written(place: str, source: str, name: str, kind: str = "int", **facts: str) -> GuardChange:
    known = {"before": "1", "now": "2", **facts}
    return GuardChange(kind, place, source, name, **known)  # type: ignore[arg-type]


N = written("global", "G['N']", "N")
ITEMS = written("global", "G['N']", "N", "length")
DEFAULT = written("default", "G['f'].__defaults__[0]", "n")
TRAINING = written("attribute", "L['self'].training", "self.training", "training")
CONTENTS = written("attribute", "L['self'].items", "self.items", "length", holder="main.Model")
KEYS = written("attribute", "L['self'].__dict__", "self.__dict__", "keys", holder="main.Model",
               now="'rate'")  # fmt: skip
BUFFER = written("attribute", "L['self']._buffers['rate']", "self.rate", holder="main.Model")
LIBRARY = written("attribute", "L['self'].rate", "self.rate", holder="library.Other")
NEITHER = written("argument", "L['n']", "n")
# Programs by what is written: `# compiled` is the function with the guard, `# this` the answer.
WRITERS = {
    "a global that a function writes": (N, """
        N = 1
        def raise_it():
            global N
            N = 2  # this
        def f(x):  # compiled
            return x * N
        """),
    "a global that a function and the module write": (N, """
        N = get()
        def raise_it():
            global N
            N = N + 1
        def f(x):  # compiled
            return x * N
        """),
    "an attribute of a module": (N, """
        import program
        N = 1
        program.N = 2  # this
        def f(x):  # compiled
            return x * N
        """),
    "a global that is written without its name": (N, """
        N = 1
        globals()["N"] = 2
        def f(x):  # compiled
            return x * N
        """),
    "a global that loops bind": (N, """
        for N in range(3):  # this
            pass
        def f(x):  # compiled
            return x * N
        """),
    "what a list gets": (ITEMS, """
        N = [1]
        def f(x):  # compiled
            return x * len(N)
        def grow():
            N.append(2)  # this
        """),
    "an item of a dictionary": (ITEMS, """
        N = {}
        def f(x):  # compiled
            for each in N: x = x + each
            return x
        def grow():
            N["b"] = 2  # this
            return N["b"], N.get("c"), torch.stack(N)
        """),
    "a list with another name": (ITEMS, """
        N = [1]
        M = N
        def f(x):  # compiled
            return x * len(N)
        N.append(2)
        """),
    "two ways to grow": (ITEMS, """
        N = [1]
        def f(x):  # compiled
            return x * len(N)
        def grow():
            N.append(2)
            del N[0]
        """),
    "a default that is replaced": (DEFAULT, """
        def f(x, n=1):  # compiled
            return x * n
        f.__defaults__ = (2,)  # this
        """),
    "a default of another function": (DEFAULT, """
        def f(x, n=1):  # compiled
            return x * n
        def g(x, n=1):
            return x * n
        g.__defaults__ = (2,)
        """),
    "a default of a function that is made again": (DEFAULT, """
        def make(value):
            def f(x, n=value):  # compiled this
                return x * n
            return f
        """),
    "a default of an unknown function": (DEFAULT, """
        def f(x, n=1):  # compiled
            return x * n
        setattr(f, name, (2,))
        """),
    "the mode of a module": (TRAINING, """
        def f(self, x):  # compiled
            return x
        model.eval()  # this
        """),
    "two modes of a module": (TRAINING, """
        def f(self, x):  # compiled
            return x
        model.train()
        model.eval()
        """),
    "what a list of an object gets": (CONTENTS, """
        class Model:
            def f(self, x):  # compiled
                return x * len(self.items)
            def grow(self):
                self.items.extend([2])  # this
        """),
    "a container that is passed on": (CONTENTS, """
        class Model:
            def f(self, x):  # compiled
                return x * len(self.items)
            def grow(self):
                grow(self.items)
        """),
    "a new attribute": (KEYS, """
        class Model:
            def f(self, x):  # compiled
                return x
        model.rate = 2  # this
        """),
    "a buffer": (BUFFER, """
        class Model:
            def __init__(self):
                self.register_buffer("rate", one())  # this
            def f(self, x):  # compiled
                return x * self.rate
        """),
    "an attribute of the class": (RATE, """
        class Model:
            rate = 1
            depth: int = 2
            def f(self, x):  # compiled
                return x * self.rate
        Model.rate = 2  # this
        """),
    "a field": (RATE, """
        class Model:
            rate: int = 2
            def f(self, x):  # compiled
                return x * self.rate
        """),
    "a deleted attribute": (RATE, """
        class Model:
            def f(self, x):  # compiled
                return x * self.rate
        del model.rate  # this
        """),
    "a class with writes of its own": (RATE, """
        class Model:
            def __setattr__(self, name, value):
                pass
            def f(self, x):  # compiled
                return x * self.rate
        model.rate = 2
        """),
    "an attribute by its name": (RATE, """
        class Model:
            def f(self, x):  # compiled
                return x * self.rate
        setattr(model, "rate", 2)  # this
        """),
    "a class of a library": (LIBRARY, """
        class Model:
            def f(self, x):  # compiled
                return x * self.rate
        model.rate = 2
        """),
    "a cell of two functions": (SCALE, """
        def one():
            scale = 3
            return lambda: scale
        def two():
            scale = 3
            return lambda: scale
        class Model:
            def f(self, x):  # compiled
                return x
        """),
    "a cell of another function": (SCALE, """
        def one():
            scale = 3  # this
            return lambda: scale
        class Model:
            def f(self, x):  # compiled
                return x
        """),
    "no place that can be written": (NEITHER, """
        def f(x, n):  # compiled
            return x * n
        """),
}  # fmt: skip


@pytest.mark.parametrize(("change", "program"), WRITERS.values(), ids=WRITERS)
def test_the_line_is_the_only_one_that_can_have_written_the_value(
    change: GuardChange, program: str
) -> None:
    this = next((line for line in program.splitlines() if line.endswith(" this")), None)
    wanted = this and this.partition("#")[0].strip()
    assert line_of_writer(program, change) == wanted
