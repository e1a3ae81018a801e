"""Guards that failed, as torch writes them, and the changes that they are expected to be.

    python -m tests.capture.failed_guards

writes `changes.txt` again, after the description of changes was changed on purpose; read the diff
of git.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import nn

from fullgraph.capture.changes import FailedGuard, backend_changes, changes_of_entry
from fullgraph.capture.guard_sources import FrameFacts, describe_source, is_in_module, position
from fullgraph.model.events import GuardChange

EXPECTED = Path(__file__).parent / "changes.txt"


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Options:
    rate = 2


def helper(a: Any, strength: int = 1, *, bias: int = 2) -> Any:
    return a


def make() -> Any:
    cell, other = 1, 2

    def inner() -> int:
        return cell + other

    return inner


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.k = 4

    def forward(self, x: Any, n: int = 1, *args: Any, flag: bool = False, **kwargs: Any) -> Any:
        return x


MODEL = Model()
MARKED = torch.ones(4, 3)
torch._dynamo.mark_dynamic(MARKED, 0)
WIDE = torch.ones(4, 6)[:, ::2]
LOCALS: dict[str, Any] = {
    "self": MODEL, "x": torch.ones(4, 3), "y": MARKED, "z": WIDE, "n": 5, "f": 2.5, "s": "text",
    "none": None, "flag": True, "color": Color.BLUE, "o": Options(), "list": [1, 2, 3],
    "d": {"a": 1, "b": 2}, "it": iter((1, 2)), "fn": helper, "inner": make(), "class": Options,
    "half": torch.ones(2, dtype=torch.float16), "grad": torch.ones(2, requires_grad=True),
    "same": "l" * 90, "range": range(3), "args": (7,), "kwargs": {"mask": 1},
}  # fmt: skip
LOCALS["alias"] = LOCALS["x"]
GLOBALS: dict[str, Any] = {"RATE": 3, "CONFIG": Options(), "helper": helper}


def evaluate(source: str) -> Any:
    return eval(source, {"L": LOCALS, "G": GLOBALS})


FRAME = FrameFacts(Model.forward.__code__, "train", evaluate=evaluate)
RESUMED = FrameFacts(
    Model.forward.__code__, "train", 12, frozenset({"x"}), frozenset({"n"}), evaluate
)
_KEYS = "CPU, BackendSelect, ADInplaceOrView, AutogradCPU"


def tensor(
    name: str, keys: str = _KEYS, class_: str = "Tensor", **facts: str
) -> tuple[str, str, str]:
    known = {"dtype": "torch.float32", "device": "None", "requires_grad": "False",
             "size": "4, 3", "stride": "3, 1", **facts}  # fmt: skip
    part = (
        f"check_tensor(L['{name}'], {class_}, DispatchKeySet({keys}), {known['dtype']}, "
        f"device={known['device']}, requires_grad={known['requires_grad']}, "
        f"size=[{known['size']}], stride=[{known['stride']}])"
    )
    return "TENSOR_MATCH", f"L['{name}']", part


# The type of a guard, the value that it is about, and its text without the comment behind it.
GUARDS: tuple[tuple[str, str, str], ...] = (
    tensor("x", size="5, 3"), tensor("x", size="None, 2"), tensor("x", size="4"), tensor("x"),
    tensor("x", stride="1, 4"), tensor("x", stride="None, 2"), tensor("x", dtype="torch.int64"),
    tensor("x", requires_grad="True"), tensor("x", "CUDA, AutogradCUDA", device="1"),
    tensor("x", "Python, AutogradCPU"), tensor("x", "CPU, BackendSelect"),
    tensor("x", "CPU, AutogradCPU"), tensor("x", class_="Parameter"), tensor("y", size="5, 4"),
    tensor("z", stride="1, 2"), tensor("n"), tensor("none"), tensor("half", size="2", stride="1"),
    tensor("grad", size="3", stride="1"),
    ("TENSOR_MATCH", "L['x']", "something else"),
    ("EQUALS_MATCH", "L['n']", "L['n'] == 4"), ("EQUALS_MATCH", "L['f']", "L['f'] == 1.5"),
    ("EQUALS_MATCH", "L['s']", "L['s'] == 'other'"), ("EQUALS_MATCH", "L['n']", "L['n'] == 'text'"),
    ("EQUALS_MATCH", "L['none']", "L['none'] == 4"), ("EQUALS_MATCH", "L['n']", "L['n'] == None"),
    ("EQUALS_MATCH", "L['o']", "L['o'] == <Options>"), ("EQUALS_MATCH", "L['n']", "L['n'] == <x>"),
    ("EQUALS_MATCH", "L['same']", "L['same'] == 'a'"),
    ("EQUALS_MATCH", "L['s']", "L['s'] == '" + "b" * 57 + "'"),
    ("EQUALS_MATCH", "L['s']", "L['s'] == '" + "b" * 58 + "'"),
    ("EQUALS_MATCH", "list(dict.keys(L['d']))[0]", "list(dict.keys(L['d']))[0] == 'c'"),
    ("EQUALS_MATCH", "list(L['d'].keys())[1]", "list(L['d'].keys())[1] == 'c'"),
    ("EQUALS_MATCH", "L['self'].training", "L['self'].training == False"),
    ("EQUALS_MATCH", "L['self'].k", "L['self'].k == 3"), ("EQUALS_MATCH", "L['n']", "odd text"),
    ("TRUE_MATCH", "L['flag']", "L['flag'] == False"), ("NONE_MATCH", "L['n']", "L['n'] is None"),
    ("NOT_NONE", "L['none']", "L['none'] is not None"),
    ("FLOAT_IS_NAN", "L['f']", "__math_isnan(L['f'])"),
    ("TYPE_MATCH", "L['n']", "___check_type_id(L['n'], 1), type=<class 'float'>"),
    ("TYPE_MATCH", "L['o']", "___check_type_id(L['o'], 1), type=<class 'm.Other'>"),
    ("TYPE_MATCH", "L['o']",
     f"___check_type_id(L['o'], 1), type=<class '{Options.__module__}.Options'>"),
    ("TYPE_MATCH", "L['none']", "___check_type_id(L['none'], 1), type=<class 'm.Other'>"),
    ("TYPE_MATCH", "L['o']", "___check_type_id(L['o'], 1), type=<class 'NoneType'>"),
    ("TYPE_MATCH", "L['x']", "___check_type_id(L['x'], 1), type=<class 'NoneType'>"),
    ("TYPE_MATCH", "L['o']", "___check_type_id(L['o'], 1)"),
    ("ID_MATCH", "L['flag']", "___check_obj_id(L['flag'], 1), type=<class 'bool'>"),
    ("ID_MATCH", "L['self'].training",
     "___check_obj_id(L['self'].training, 1), type=<class 'bool'>"),
    ("ID_MATCH", "L['n']", "___check_obj_id(L['n'], 1), type=<class 'NoneType'>"),
    ("ID_MATCH", "L['none']", "___check_obj_id(L['none'], 1), type=<class 'm.Options'>"),
    ("ID_MATCH", "L['color']",
     f"___check_obj_id(L['color'], {id(Color.RED)}), type=<class 'Color'>"),
    ("ID_MATCH", "L['color']", "___check_obj_id(L['color'], 1), type=<class 'Color'>"),
    ("ID_MATCH", "L['class']", "___check_obj_id(L['class'], 1), type=<class 'type'>"),
    ("ID_MATCH", "L['fn'].__code__", "___check_obj_id(L['fn'].__code__, 1), type=<class 'code'>"),
    ("ID_MATCH", "L['fn']", "___check_obj_id(L['fn'], 1), type=<class 'function'>"),
    ("ID_MATCH", "L['o']", "___check_obj_id(L['o'], 1), type=<class 'm.Options'>"),
    ("ID_MATCH", "L['o']", "___check_obj_id(L['o'], 1)"),
    ("LENGTH_CHECK", "L['list']", "len(L['list']) == 2"),
    ("LENGTH_CHECK", "L['list']", "not L['list']"), ("DICT_LENGTH", "L['d']", "len(L['d']) == 12"),
    ("TUPLE_ITERATOR_LEN", "L['it']", "___tuple_iterator_len(L['it']) == 3"),
    ("LENGTH_CHECK", "L['n']", "len(L['n']) == 3"),
    ("DICT_CONTAINS", "L['d']", "___dict_contains('c', L['d'])"),
    ("DICT_CONTAINS", "L['d']", "not ___dict_contains('a', L['d'])"),
    ("DICT_CONTAINS", "L['d']", "'c' in L['d']"), ("SET_CONTAINS", "L['d']", "not 'a' in L['d']"),
    ("MAPPING_KEYS_MATCH", "L['d']", "keys of L['d']"), ("SET_CONTAINS", "L['n']", "'a' in L['n']"),
    ("DIMENSION_DYNAMIC_MARKING_GUARD", "L['y']", "marks"),
    ("DIMENSION_DYNAMIC_MARKING_GUARD", "L['x']", "marks"),
    ("DEFAULT_DEVICE", "", "utils_device.CURRENT_DEVICE == None"),
    ("DEFAULT_DEVICE", "", "utils_device.CURRENT_DEVICE == cuda:0"), ("DEFAULT_DEVICE", "", "odd"),
    ("TORCH_FUNCTION_MODE_STACK", "", "___check_torch_function_mode_stack()"),
    ("NO_TENSOR_ALIASING", "", "check_no_aliasing(L['x'], L['y'], L['alias'], L['unheard'])"),
    ("NO_TENSOR_ALIASING", "", "odd text ("),
    ("GLOBAL_STATE", "",
     'check against {"grad_mode":false,"default_dtype":7,"allow_tf32":true,'
     '"unheard":1}'),
    ("GLOBAL_STATE", "", 'against {"autocast_state":{"enabled":[true,true]}}'),
    ("GLOBAL_STATE", "", "odd"),
    ("DUPLICATE_INPUT", "L['x']", "L['x'] is L['y']"),
    ("DUPLICATE_INPUT", "L['n']", "L['n'] is not L['f']"),
    ("SHAPE_ENV", "", "L['x'].size()[0] == 8"), ("SHAPE_ENV", "", "L['x'].size()[0] != 4"),
    ("SHAPE_ENV", "", "2 <= L['x'].size()[1]"), ("SHAPE_ENV", "", "L['x'].size()[1] <= 2"),
    ("SHAPE_ENV", "", "L['x'].size()[1] >= 9"), ("SHAPE_ENV", "", "9 >= L['x'].size()[1]"),
    ("SHAPE_ENV", "", "L['x'].size()[1] < 2"), ("SHAPE_ENV", "", "8 < L['x'].size()[1]"),
    ("SHAPE_ENV", "", "L['x'].size()[1] > 9"), ("SHAPE_ENV", "", "1 > L['x'].size()[1]"),
    ("SHAPE_ENV", "", "L['x'].size()[0] % 8 == 0"), ("SHAPE_ENV", "", "L['x'].stride()[0] == 9"),
    ("SHAPE_ENV", "", "L['x'].storage_offset() == 9"), ("SHAPE_ENV", "", "L['n'] == 6"),
    ("SHAPE_ENV", "", "L['f'] < 2"), ("SHAPE_ENV", "", "L['x'].item() == 6"),
    ("SHAPE_ENV", "", "L['self'].k == L['x'].size()[0]"), ("SHAPE_ENV", "", "G['RATE'] == 9"),
    ("SHAPE_ENV", "", "L['unheard'] == 9"), ("SHAPE_ENV", "", "2 < L['n'] < 4"),
    ("SHAPE_ENV", "", "some_check()"), ("SHAPE_ENV", "", "not python ("),
)  # fmt: skip
# Several guards of one entry: some changes follow from others.
ENTRIES: tuple[tuple[tuple[int, ...], str], ...] = (
    ((0, 20), ""), ((20, 0), ""), ((64, 65), ""), ((60, 62), ""), ((13, 67), ""), ((78, 12), ""),
    ((41, 20, 36), ""), ((31, 32), ""), ((70, 72), ""), ((0, 0), ""),
    ((), "len(L['d']) != 5"), ((), "len(d) != 5"), ((), "len(unheard) != 5"),
    ((), "another reason"),
    ((), "GLOBAL_STATE changed: grad_mode deterministic_algorithms unheard_of "),
    ((78,), "GLOBAL_STATE changed: grad_mode"),
)  # fmt: skip
SOURCES = (
    "L['x']", "L['n']", "L['flag']", "L['args'][0]", "L['kwargs']['mask']", "L['args']['mask']",
    "L['unheard']", "L['___stack0']", "L['cell']", "L['self']", "L['self'].k",
    "L['self'].layer.bias",
    "L['self']._modules['layer']._parameters['weight']", "L['self']._modules['0']",
    "L['self']._modules['a b']", "L['self'].__dict__['k']", "L['self'].__class__",
    "L['range'].start",
    "L['fn'].__defaults__[0]", "L['fn'].__defaults__[1]", "L['fn'].__kwdefaults__['bias']",
    "L['n'].__defaults__[0]", "L['inner'].__closure__[0].cell_contents",
    "L['inner'].__closure__[1].cell_contents", "L['inner'].__closure__[2].cell_contents",
    "L['o'].rate", "L['list'][0]", "L['list'][L['n']]", "list(dict.keys(L['d']))[0]",
    "list(L['d'].keys())[0]", "list(L['d'])[0]", "L['x'].size()[0]", "L['x'].stride()[1]",
    "L['x'].item()", "___from_numpy(L['x'])", "len(L['list'])", "L['n'] + L['f'] * 2", "G['RATE']",
    "G['CONFIG'].rate", "G['__import_torch_dot_nn'].RATE", "G['__import_torch_dot_nn'].CONFIG.rate",
    "G['__builtins_dict___0']['len']", "G['helper'].__defaults__[0]", "", "odd text (",
    "0x7f001122",
)  # fmt: skip


def lines() -> Iterator[str]:
    """Yield a line for each change of each guard, of each entry, and for each source."""
    guards = [_failed(*each) for each in GUARDS]
    for guard in guards:
        text = f"{guard.type} {guard.source} {guard.part}".replace(str(id(Color.RED)), "ID")
        yield text.replace(Options.__module__, "program")
        yield from map(_described, changes_of_entry([guard], "", FRAME))
    with torch.inference_mode():
        inside = torch.ones(4, 3)
        for keys in (_KEYS, "CPU, BackendSelect"):
            yield f"in inference mode: {keys}"
            guard = FailedGuard(*tensor("x", keys), inside)
            yield from map(_described, changes_of_entry([guard], "", FRAME))
    for keys in (_KEYS, "CPU, AutogradCPU"):
        yield f"an inference tensor: {keys}"
        guard = FailedGuard(*tensor("x", keys), inside)
        yield from map(_described, changes_of_entry([guard], "", FRAME))
    for numbers, reason in ENTRIES:
        yield f"guards {numbers} {reason}"
        entry = [guards[number] for number in numbers]
        yield from map(_described, changes_of_entry(entry, reason, FRAME))
    for name, frame in (("", FRAME), ("after a break, ", RESUMED)):
        for source in SOURCES:
            facts = describe_source(source, frame)
            where = f"{facts.place} {facts.name} ({facts.holder})"
            inside_module = "in a module" if is_in_module(source, frame) else ""
            yield f"{name}{source}: {where} at {position(source, frame)} {inside_module}".rstrip()
    for before, now in ((None, "a"), ("a", "a"), ("a", "b"), (helper, helper), (make(), make()),
                        (Options(), "b")):  # fmt: skip
        yield f"backend: {[_described(each) for each in backend_changes(before, now)]}"


def _failed(kind: str, source: str, part: str) -> FailedGuard:
    return FailedGuard(kind, source, part, evaluate(source) if source else None)


def _described(change: GuardChange) -> str:
    dim = "" if change.dim is None else f" [{change.dim}]"
    more = f" ({change.note})" * bool(change.note) + f" of {change.holder}" * bool(change.holder)
    return (
        f"    {change.kind} {change.place} {change.source} {change.name}{dim}: "
        f"{change.before} → {change.now}{more}"
    )


def main() -> None:
    """Write the expected lines again."""
    EXPECTED.write_text("\n".join(lines()) + "\n", "utf-8")


if __name__ == "__main__":
    main()
