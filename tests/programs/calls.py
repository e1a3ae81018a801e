"""Compiled functions that are called in every way that a program may call them."""

import copy
import io
import pickle
import threading
from collections.abc import Iterator

import torch
from torch import Tensor


@torch.compile(backend="eager")
def inner(x: Tensor) -> Tensor:
    return x.cos()


def outer(x: Tensor) -> Tensor:
    y = x.sin()
    torch._dynamo.graph_break()
    return inner(y) + 1


@torch.compiler.disable
def in_eager_mode(x: Tensor) -> Tensor:
    return inner(x)


def indirect(x: Tensor) -> Tensor:
    return in_eager_mode(x.sin()) + 1


@torch.compile(backend="eager")
def fails(x: Tensor, error: type[Exception] | None) -> Tensor:
    if error is not None:
        raise error("from the program")
    return x + 1


@torch.compile(backend="eager")
def doubled(x: Tensor) -> Iterator[Tensor]:
    yield x * 2


@torch.compile(backend="eager", fullgraph=True)
def computes_nothing(x: Tensor) -> Tensor:
    return x


def main() -> None:
    compiled = torch.compile(outer, backend="eager")
    for size in (3, 4, 4):
        compiled(torch.ones(size))
    torch.compile(indirect, backend="eager")(torch.ones(4))
    try:
        fails(torch.ones(3), KeyError)
    except KeyError:
        compiled(torch.ones(4))
    thread = threading.Thread(target=compiled, args=(torch.ones(4),))
    thread.start()
    thread.join()
    assert next(doubled(torch.ones(1))).item() == 2
    try:
        computes_nothing(torch.ones(3))
    except RuntimeError:
        pass
    compiled(torch.ones(4))
    module = torch.compile(torch.nn.Linear(3, 3), backend="eager")
    module(torch.ones(3))
    copy.deepcopy(module)(torch.ones(3))
    saved = io.BytesIO()
    torch.save(module, saved)
    assert b"fullgraph" not in saved.getvalue()
    saved.seek(0)
    torch.load(saved, weights_only=False)(torch.ones(3))
    assert pickle.loads(pickle.dumps(outer)) is outer


if __name__ == "__main__":
    main()
