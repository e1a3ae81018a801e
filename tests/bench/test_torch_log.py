"""The breaks in torch's own log are counted once per compile and location."""

from __future__ import annotations

from pathlib import Path

from bench._torch_log import count_breaks

_HEAD = 'V1118 03:36:58 1 torch/_dynamo/symbolic_convert.py:1] {"%s": {"name": "%s"}, '
_BREAK = _HEAD % ("artifact", "dynamo_graph_break_reason")
_SKIPPED = "Graph break: torch.compile cannot properly resume from this graph break"


def _write(folder: Path, *records: str) -> Path:
    (folder / "trace.log").write_text("\n".join(records))
    return folder


def _logged(compile_id: int, attempt: int, *payload: str) -> str:
    head = f'{_BREAK}"frame_id": {compile_id}, "frame_compile_id": 0, "attempt": {attempt}}}'
    return "\n".join([head, *(f"\t{line}" for line in payload)])


def test_a_break_that_is_logged_again_after_a_restart_counts_once(tmp_path: Path) -> None:
    resumed = "Graph break in user code at model.py:7"
    folder = _write(
        tmp_path, _logged(0, 0, resumed), _logged(0, 1, resumed), _logged(1, 0, resumed)
    )
    assert count_breaks(folder) == {("model.py", 7): 2}


def test_a_skipped_frame_breaks_where_the_stack_of_the_user_ends(tmp_path: Path) -> None:
    payload = (
        _SKIPPED,
        '  File "model.py", line 3, in forward',
        '  File "helper.py", line 9, in helper',
        "Traceback (most recent call last):",
        '  File "torch/_dynamo/convert_frame.py", line 1, in __call__',
    )
    assert count_breaks(_write(tmp_path, _logged(0, 0, *payload))) == {("helper.py", 9): 1}


def test_other_records_are_not_breaks(tmp_path: Path) -> None:
    graph = _HEAD % ("artifact", "fx_graph") + '"frame_id": 0}'
    folder = _write(tmp_path, graph, "\tGraph break in user code at model.py:7", graph)
    assert not count_breaks(folder)
