"""The block itself: what it leaves behind, threads, releases, the log."""

from __future__ import annotations

import dis
import gc
import threading
import weakref
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._dynamo import symbolic_convert, utils
from torch._dynamo.testing import CompileCounter
from torch._dynamo.variables.builtin import BuiltinVariable
from torch._dynamo.variables.tensor import TensorVariable

import fullgraph
from fullgraph import value_guards as package
from fullgraph.value_guards import ValueGuardError, supported, value_guards
from fullgraph.value_guards import requirements as needs
from tests.value_guards.run_and_compare import X, ints, run


def read(t: Tensor) -> Tensor:
    return X[: t[0].item()] * t[1]


@pytest.fixture(autouse=True)
def _fresh_dynamo() -> None:
    torch._dynamo.reset()


def everything() -> list[Any]:
    tables = [
        kind.dispatch_table[code]
        for kind in (
            symbolic_convert.InstructionTranslatorBase,
            symbolic_convert.InstructionTranslator,
            symbolic_convert.InliningInstructionTranslator,
        )
        for code in dis.opmap.values()
    ]
    return [
        *tables,
        TensorVariable.method_item,
        TensorVariable.method_tolist,
        BuiltinVariable.call_function,
        utils._get_fake_value_impl,
    ]


def test_dynamo_is_as_it_was() -> None:
    before = everything()
    with value_guards(), value_guards():
        assert everything() != before
        torch.compile(read, backend="eager")(ints(1, 3))
    assert everything() == before
    with pytest.raises(ZeroDivisionError), value_guards():
        raise ZeroDivisionError
    assert everything() == before


def test_breaks_are_back_after_the_block() -> None:
    with value_guards():
        pass
    with fullgraph.watch() as session:
        torch.compile(read, backend="eager")(ints(1, 3))
    assert len(session.sites) == 1


def test_guards_stay_after_the_block() -> None:
    counter = CompileCounter()
    compiled = torch.compile(read, backend=counter)
    with value_guards() as log:
        compiled(ints(1, 3))
    checked = log.guards[0].checked
    assert torch.equal(compiled(ints(1, 4)), read(ints(1, 4)))
    assert counter.frame_count == 1
    assert log.guards[0].checked == checked + 1
    assert torch.equal(compiled(ints(2, 4)), read(ints(2, 4)))
    assert log.guards[0].failed > 0


def test_the_log_says_where_and_what() -> None:
    ran = run(read, [(ints(1, 3),)])
    fact = ran.log.guards[0]
    assert Path(fact.file) == Path(__file__)
    assert (fact.line, fact.function) == (read.__code__.co_firstlineno + 1, "read")
    assert (fact.input, fact.kind, fact.shown) == ("t", "value", "1")
    assert fact.checked > 0
    assert fact.seconds > 0


def test_the_log_says_why_not() -> None:
    def activation(x: Tensor) -> Tensor:
        return X * x.sum().item()

    ran = run(activation, [(X,)])
    assert ran.log.left == {
        (__file__, activation.__code__.co_firstlineno + 1, "activation"): "not integers"
    }


def test_the_reason_of_a_recompile_names_the_value() -> None:
    compiled = torch.compile(read, backend="eager")
    with value_guards(), fullgraph.watch() as session:
        compiled(ints(1, 3))
        compiled(ints(2, 3))
    (recompile,) = session.report().recompiles
    assert "value guard: t gave 1" in str(recompile)


def test_a_filter_of_guards() -> None:
    filtered = {"guard_filter_fn": lambda entries: [True for _ in entries]}
    ran = run(read, [(ints(1, 3),), (ints(2, 3),), (ints(1, 4),)], options=filtered)
    assert ran.graphs == 2


def test_numbers_are_not_looked_at() -> None:
    def branches(x: Tensor, flag: int, name: str) -> Tensor:
        return x + 1 if flag and name else x - 1

    plain = CompileCounter()
    compiled = torch.compile(branches, backend=plain)
    for flag, name in ((1, "a"), (2, "b"), (3, "c"), (0, "d")):
        compiled(X, flag, name)
    ran = run(branches, [(X, 1, "a"), (X, 2, "b"), (X, 3, "c"), (X, 0, "d")])
    assert ran.graphs == plain.frame_count


def test_the_traced_graph_is_not_kept() -> None:
    kept: list[weakref.ref[Any]] = []

    def backend(graph: torch.fx.GraphModule, _: Any) -> Any:
        kept.extend(weakref.ref(node) for node in graph.graph.nodes)
        return lambda *args: (X[:1] * 3,)

    with value_guards() as log:
        torch.compile(read, backend=backend)(ints(1, 3))
    gc.collect()
    assert log.guards
    assert kept
    assert not [node for node in kept if node() is not None]


def test_another_thread_is_refused_and_left_alone() -> None:
    seen: list[Any] = []

    def elsewhere() -> None:
        try:
            with value_guards():
                pass
        except ValueGuardError as error:
            seen.append(error)
        with fullgraph.watch() as session:
            torch.compile(read, backend="eager")(ints(1, 3))
        seen.append(len(session.sites))

    with value_guards() as log:
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert isinstance(seen[0], ValueGuardError)
    assert seen[1] == 1
    assert log.guards == []


def test_this_release_is_supported() -> None:
    assert supported() is None


def test_another_release_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needs, "RELEASES", ((1, 0),))
    monkeypatch.setattr(package, "_hooks", None)
    reason = supported()
    assert reason is not None
    assert torch.__version__.split("+")[0] in reason
    with pytest.raises(ValueGuardError, match=r"only on 1\.0"), value_guards():
        pass


@pytest.mark.parametrize(
    "need",
    [
        needs.Need("torch._dynamo.utils:no_such_thing", None, ""),
        needs.Need("torch._dynamo.no_such_module:x", None, ""),
        needs.Need("torch._dynamo.utils:_get_fake_value_impl", ("node",), ""),
    ],
)
def test_a_missing_piece_is_refused(monkeypatch: pytest.MonkeyPatch, need: needs.Need) -> None:
    monkeypatch.setattr(needs, "NEEDS", (need,))
    reason = supported()
    assert reason is not None
    assert need.place.replace(":", ".") in reason
