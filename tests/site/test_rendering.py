"""Many pages are rendered in several processes, in order, and errors are not lost."""

from __future__ import annotations

import os

import pytest

from fullgraph.site import rendering
from fullgraph.site.pages import Output


def outputs(number: int) -> list[Output]:
    return [
        Output(f"{n}.html", n, lambda n=n: f"{n} {os.getpid()}".encode()) for n in range(number)
    ]


def text(path: str, content: bytes) -> tuple[str, list[str]]:
    return path, content.decode().split()


def test_the_order_is_that_of_the_outputs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    texts = list(rendering.rendered(outputs(1000), text))
    assert [path for path, _ in texts] == [f"{number}.html" for number in range(1000)]
    assert [int(number) for _, (number, _) in texts] == list(range(1000))
    assert str(os.getpid()) not in {process for _, (_, process) in texts}


def test_a_few_pages_are_rendered_here() -> None:
    assert list(rendering.rendered(outputs(1), text)) == [("0.html", ["0", f"{os.getpid()}"])]


def test_an_error_in_another_process_ends_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})

    def fail() -> bytes:
        raise RuntimeError("out of ink")

    with pytest.raises(RuntimeError, match="out of ink"):
        list(rendering.rendered([*outputs(700), Output("x.html", 0, fail)], text))
