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


def test_the_order_is_that_of_the_outputs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    contents = [content.decode().split() for content in rendering.rendered(outputs(1000))]
    assert [int(number) for number, _ in contents] == list(range(1000))
    assert str(os.getpid()) not in {process for _, process in contents}


def test_a_few_pages_are_rendered_here() -> None:
    (content,) = rendering.rendered(outputs(1))
    assert content == f"0 {os.getpid()}".encode()


def test_an_error_in_another_process_ends_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})

    def fail() -> bytes:
        raise RuntimeError("out of ink")

    with pytest.raises(RuntimeError, match="out of ink"):
        list(rendering.rendered([*outputs(700), Output("x.html", 0, fail)]))
