"""Session files: they are read back, and damage is a warning or an error that names the line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullgraph.errors import SessionError
from fullgraph.model.events import (
    FORMAT_VERSION,
    Break,
    Code,
    Compile,
    End,
    Event,
    Frame,
    Graph,
    Problem,
    Reason,
    Recompile,
    Settings,
    Skip,
    SourceLine,
    Stack,
)
from fullgraph.model.session import Header, Session, load, load_all

HEADER = Header(format=FORMAT_VERSION, fullgraph="1", torch="2.13.0", command=("python", "x.py"))
BREAK = Break(
    "0/0",
    Code("x.py", 1, "f"),
    (Reason("first", "GB0001", hints=("a", "b")), Reason("second")),
    Stack((Frame("x.py", 3, "f", column=2),), 1, (SourceLine(3, "g()"),)),
)

text = st.text(max_size=20)
codes = st.builds(Code, file=text, line=st.integers(0, 999), function=text)
frames = st.builds(Frame, file=text, line=st.integers(0, 999), function=text, code=text)
stacks = st.builds(Stack, frames=st.lists(frames, max_size=3).map(tuple))
reasons = st.builds(Reason, type=text, hints=st.lists(text, max_size=2).map(tuple), context=text)
events: st.SearchStrategy[Event] = st.one_of(
    st.builds(
        Break,
        compile=text,
        root=codes,
        reasons=st.lists(reasons, min_size=1, max_size=3).map(tuple),
        stack=stacks,
    ),
    st.builds(Compile, id=text, code=codes, seconds=st.floats(0, 9)),
    st.builds(Graph, compile=text, root=codes, ops=st.integers(0, 9)),
    st.builds(Recompile, compile=text, code=codes),
    st.builds(Skip, code=codes, reason=text),
    st.builds(Settings, values=st.dictionaries(text, st.booleans())),
    st.builds(Problem, message=text),
)


def write(path: Path, *lines: str | bytes, end: bytes = b"\n") -> Path:
    encoded = [line.encode() if isinstance(line, str) else line for line in lines]
    path.write_bytes(b"\n".join(encoded) + end)
    return path


def good_lines(tmp_path: Path) -> list[str]:
    Session(HEADER, (BREAK, BREAK, End(1.0))).save(tmp_path / "good")
    return (tmp_path / "good").read_text().splitlines()


@given(st.lists(events, max_size=6))
def test_what_is_saved_is_loaded(
    tmp_path_factory: pytest.TempPathFactory, some: list[Event]
) -> None:
    path = tmp_path_factory.mktemp("session") / "s.jsonl"
    Session(HEADER, tuple(some)).save(path)
    loaded = load(path)
    assert (loaded.header, loaded.events, loaded.warnings) == (HEADER, tuple(some), ())


# As fullgraph wrote it when the session format was 1.
FORMAT_1 = """\
{"event":"header","format":1,"fullgraph":"0.1.0","torch":"2.13.0","process":7,"directory":"/home"}
{"event":"settings","values":{"recompile_limit":8}}
{"event":"reason","key":0,"reason":{"type":"first","id":"GB0001","hints":["a"]}}
{"event":"stack","key":0,"stack":{"frames":[{"file":"x.py","line":3,"function":"f","column":2}]}}
{"event":"break","compile":"0/0","root":{"file":"x.py","line":1,"function":"f"},"reasons":[0],"stack":0}
{"event":"graph","compile":"0/0","root":{"file":"x.py","line":1,"function":"f"},"ops":3}
{"event":"compile","id":"0/0","code":{"file":"x.py","line":1,"function":"f"},"seconds":0.5}
{"event":"end","seconds":1.5}
"""


def test_a_session_of_format_1_is_read(tmp_path: Path) -> None:
    (tmp_path / "old.jsonl").write_text(FORMAT_1)
    loaded = load(tmp_path / "old.jsonl")
    root = Code("x.py", 1, "f")
    assert loaded.warnings == ()
    assert (loaded.header.process, loaded.header.directory) == (7, "/home")
    assert loaded.events == (
        Settings({"recompile_limit": 8}),
        Break(
            "0/0",
            root,
            (Reason("first", "GB0001", hints=("a",)),),
            Stack((Frame("x.py", 3, "f", column=2),)),
        ),
        Graph("0/0", root, 3),
        Compile("0/0", root, seconds=0.5),
        End(1.5),
    )


def test_a_reason_and_a_stack_are_written_once(tmp_path: Path) -> None:
    kinds = [json.loads(line)["event"] for line in good_lines(tmp_path)]
    assert kinds == ["header", "reason", "reason", "stack", "break", "break", "end"]


@given(cut=st.integers(min_value=1, max_value=40))
def test_an_incomplete_last_line_is_skipped_with_a_warning(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    folder = tmp_path_factory.mktemp("session")
    lines = good_lines(folder)
    whole = "\n".join(lines[:5]) + "\n" + lines[5]
    path = write(folder / "torn", whole[:-cut], end=b"")
    loaded = load(path)
    assert loaded.events == (BREAK,)
    assert "the last line is incomplete" in loaded.warnings[0]


def test_unknown_events_are_skipped_with_a_warning(tmp_path: Path) -> None:
    lines = good_lines(tmp_path)
    path = write(tmp_path / "s", lines[0], '{"event":"price","ms":3}', *lines[1:])
    loaded = load(path)
    assert loaded.events == (BREAK, BREAK, End(1.0))
    assert "1 unknown 'price' event skipped" in loaded.warnings[0]


@pytest.mark.parametrize(
    ("line", "number", "complaint"),
    [
        ("{broken", 3, "damaged"),
        ('{"event":"compile"}', 3, "missing required field `id`"),
        ('{"event":"break","compile":"0/0","root":{"file":"","line":1,"function":""},'
         '"reasons":[77],"stack":0}', 3, "entry 77, which no earlier line has"),
        (b"\xff\xfe", 3, "damaged"),
        ('["a list"]', 3, "damaged"),
    ],
)  # fmt: skip
def test_other_damage_is_an_error_that_names_the_line(
    tmp_path: Path, line: str | bytes, number: int, complaint: str
) -> None:
    header, second, *rest = good_lines(tmp_path)
    path = write(tmp_path / "s", header, second, line, *rest)
    with pytest.raises(SessionError, match=complaint) as caught:
        load(path)
    assert f"line {number}" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b"\x7fELF\x00\x01\x02", "not a fullgraph session"),
        (b'{"event":"end","seconds":1}\n', "line 1 is not a header"),
        (b'{"event":"header","format":"x","fullgraph":"1"}\n', "has no valid format"),
        (b'{"event":"header","format":99,"fullgraph":"9"}\n', "newer fullgraph .format 99"),
        (b'{"event":"header","format":1}\n', "missing required field `fullgraph`"),
    ],
)
def test_a_file_that_is_not_a_session_is_a_clear_error(
    tmp_path: Path, content: bytes, complaint: str
) -> None:
    (tmp_path / "s").write_bytes(content)
    with pytest.raises(SessionError, match=complaint):
        load(tmp_path / "s")


def test_a_missing_file_and_an_empty_folder_are_clear_errors(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="No such file"):
        load(tmp_path / "absent")
    with pytest.raises(SessionError, match=r"no \*.jsonl file in it"):
        load_all((str(tmp_path),))


def test_saving_to_a_folder_is_an_error_and_keeps_the_folder(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    path.mkdir()
    with pytest.raises(Exception, match="cannot write"):
        Session(HEADER, ()).save(path)
    assert list(tmp_path.iterdir()) == [path]
