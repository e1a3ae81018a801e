"""Turn guards that failed into changes: what about a value is different, from what to what."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any, NamedTuple

import msgspec

from fullgraph.capture.dynamo_hooks import current_global_state, dynamic_marks
from fullgraph.capture.guard_lines import line_of_guard, without_comment
from fullgraph.capture.guard_sources import FrameFacts, describe_source, position, readable
from fullgraph.model.events import ChangeKind, GuardChange

# The longest repr of a value.
_LONGEST_VALUE = 60
_PLAIN_TYPES = (bool, int, float, complex, str, bytes, type(None))
_KINDS: dict[type, ChangeKind] = {bool: "bool", int: "int", float: "float", str: "str"}
_TENSOR = re.compile(
    r"check_tensor\((.+?), (\S+), DispatchKeySet\((.*?)\), (\S+), device=(.*?), "
    r"requires_grad=(\w+), size=\[(.*?)\], stride=\[(.*?)\]\)"
)
_CLASS = re.compile(r"type=<class '([^']+)'>")
_GLOBAL_STATE = re.compile(r"against (\{.*\})")
_TORCH_STATE_REASON = re.compile(r"^GLOBAL_STATE changed: (.+?)\s*$")
_DICT_LENGTH = re.compile(r"^len\((.+)\) != (\d+)$")
_BACKEND_REASON = "BACKEND_MATCH failure"
_CONTAINERS = frozenset({"type", "none", "length", "keys", "identity"})
# Guards that compare a value with a constant, or with its type.
_VALUE_GUARDS = frozenset(
    {"EQUALS_MATCH", "TRUE_MATCH", "FALSE_MATCH", "NONE_MATCH", "NOT_NONE", "FLOAT_IS_NAN"}
)
_KEY_GUARDS = frozenset({"DICT_CONTAINS", "SET_CONTAINS", "MAPPING_KEYS_MATCH"})
_LENGTH_GUARDS = frozenset({"LENGTH_CHECK", "DICT_LENGTH", "TUPLE_ITERATOR_LEN"})
# torch's numbers of the types of tensors.
_DTYPES = {5: "torch.float16", 6: "torch.float32", 7: "torch.float64", 15: "torch.bfloat16"}
_STATE_KINDS: dict[str, ChangeKind] = {
    "grad_mode": "grad_mode",
    "num_threads": "num_threads",
    "default_dtype": "default_dtype",
    "deterministic_algorithms": "deterministic",
    "deterministic_algorithms_warn_only": "deterministic",
}
_STATE_NAMES: dict[str, str] = {
    "grad_mode": "grad mode",
    "num_threads": "number of threads",
    "default_dtype": "default dtype",
    "deterministic_algorithms": "deterministic algorithms",
    "deterministic_algorithms_warn_only": "deterministic algorithms (warn only)",
    "allow_tf32": "allow_tf32",
    "allow_fp16_reduce": "reduced precision for float16",
    "allow_bf16_reduce": "reduced precision for bfloat16",
    "torch_function": "__torch_function__",
    "torch_function_all_disabled": "__torch_function__",
}
_MARKED = "marked dynamic, but specialized"
_SAME_CLASS = "the class is created again"
_ZERO_D = "the value of a 0-d tensor"


class FailedGuard(NamedTuple):
    """A guard that failed: torch's type of it, Dynamo's expression, its text and the value now."""

    type: str
    source: str
    part: str
    value: object


def changes_of_entry(
    guards: Iterable[FailedGuard], reason: str, frame: FrameFacts
) -> tuple[GuardChange, ...]:
    """Return what changed since one piece of code was compiled, without mere consequences.

    `reason` is torch's sentence. It names what no single guard has: the length of a dictionary, and
    in older releases the state of torch.
    """
    found = [change for guard in guards for change in _changes(guard, frame)]
    found += _changes_of_reason(reason, frame)
    distinct = sorted(dict.fromkeys(found), key=lambda change: position(change.source, frame))
    return tuple(_without_consequences(_merged_keys(distinct)))


def _changes_of_reason(reason: str, frame: FrameFacts) -> Iterator[GuardChange]:
    match = _DICT_LENGTH.match(reason)
    if match is not None:
        yield from _changes_of_dict_length(match[1], match[2], reason, frame)
    match = _TORCH_STATE_REASON.match(reason)
    if match is not None and not current_global_state():
        yield _state_change(match[1].split()[0], "", "", reason)


def backend_changes(before: Any, now: Any) -> tuple[GuardChange, ...]:
    """Return the change of the backend; nothing if both are one."""
    if before is None or before == now:
        return ()
    first, second = _describe_backend(before), _describe_backend(now)
    again = first == second
    change = GuardChange(
        kind="backend",
        place="torch",
        source="",
        name="backend",
        before=first,
        now=f"another {second}" if again else second,
        guard=_BACKEND_REASON,
        note="the backend is created again" if again else "",
    )
    return (change,)


def _describe_backend(backend: Any) -> str:
    inner = getattr(backend, "compiler_fn", None) or getattr(backend, "compiler_name", None)
    shown = inner if inner is not None else backend
    name = shown if isinstance(shown, str) else getattr(shown, "__name__", type(shown).__name__)
    dynamic = getattr(backend, "dynamic", None)
    return f"{name}, dynamic={dynamic}" if dynamic is not None else str(name)


def _changes(guard: FailedGuard, frame: FrameFacts) -> Iterator[GuardChange]:
    if guard.type == "TENSOR_MATCH":
        yield from _tensor_changes(guard, frame)
    elif guard.type == "GLOBAL_STATE":
        yield from _state_changes(guard)
    elif guard.type == "NO_TENSOR_ALIASING":
        yield from _new_aliases(guard, frame)
    elif guard.type == "DIMENSION_DYNAMIC_MARKING_GUARD":
        yield _change(guard, frame, "marking", "unmarked", _describe_marks(guard.value))
    elif guard.type == "TYPE_MATCH":
        yield _type_change(guard, frame)
    elif guard.type == "ID_MATCH":
        yield _identity_change(guard, frame)
    elif guard.type == "DEFAULT_DEVICE":
        yield _default_device_change(guard)
    elif guard.type in _VALUE_GUARDS:
        yield _value_change(guard, frame)
    elif guard.type in _LENGTH_GUARDS:
        yield _length_change(guard, frame)
    elif guard.type in _KEY_GUARDS:
        yield _key_change(guard, frame)
    else:
        yield _condition_change(guard, frame)


def _change(
    guard: FailedGuard,
    frame: FrameFacts,
    kind: ChangeKind,
    before: str,
    now: str,
    dim: int | None = None,
    note: str = "",
    source: str = "",
) -> GuardChange:
    source = source or guard.source
    facts = describe_source(source, frame)
    return GuardChange(
        kind=kind,
        place=facts.place,
        source=source,
        name=facts.name,
        before=before,
        now=now,
        dim=dim,
        guard=without_comment(guard.part),
        holder=facts.holder,
        line=line_of_guard(guard.part, frame.code.co_filename),
        note=note,
    )


# Tensors.


def _tensor_changes(guard: FailedGuard, frame: FrameFacts) -> Iterator[GuardChange]:
    match = _TENSOR.match(guard.part)
    value: Any = guard.value
    if match is None:
        yield _change(guard, frame, "other", "", _describe(value))
        return
    _, class_, keys, dtype, device, requires_grad, size, stride = match.groups()
    if not isinstance(value, import_module("torch").Tensor):
        kind: ChangeKind = "none" if value is None else "type"
        yield _change(guard, frame, kind, "a tensor", _describe(value))
        return
    found = [
        change
        for change in (
            _difference(guard, frame, "dtype", dtype, str(value.dtype)),
            _device_change(guard, frame, keys, device),
            _difference(guard, frame, "requires_grad", requires_grad, str(value.requires_grad)),
        )
        if change is not None
    ]
    found += _layout_changes(guard, frame, _numbers(size), _numbers(stride))
    yield from found or [_unexplained_tensor_change(guard, frame, class_, keys)]


def _difference(
    guard: FailedGuard, frame: FrameFacts, kind: ChangeKind, before: str, now: str
) -> GuardChange | None:
    return None if before == now else _change(guard, frame, kind, before, now)


def _device_change(
    guard: FailedGuard, frame: FrameFacts, keys: str, index: str
) -> GuardChange | None:
    """Return the change of a tensor's device; its kind is known by the first dispatch key."""
    value: Any = guard.value
    type_ = keys.split(",")[0].strip().lower()
    if not type_.isalnum() or type_ in ("python", "autocastcpu"):
        return None
    before = type_ if index == "None" else f"{type_}:{index}"
    now = str(value.device)
    if value.device.type == type_ and (value.device.index in (None, 0) or now == before):
        return None
    return _change(guard, frame, "device", before, now)


def _layout_changes(
    guard: FailedGuard, frame: FrameFacts, size: list[str], stride: list[str]
) -> list[GuardChange]:
    value: Any = guard.value
    actual = [str(number) for number in value.shape]
    if len(size) != len(actual):
        return [_change(guard, frame, "rank", str(len(size)), str(len(actual)))]
    marked = dynamic_marks(value)
    # None means that the guard allows any size.
    changes = [
        _change(guard, frame, "size", before, now, dim, _MARKED if dim in marked else "")
        for dim, (before, now) in enumerate(zip(size, actual, strict=True))
        if before not in ("None", now)
    ]
    strides = [str(number) for number in value.stride()]
    if not changes and any(
        before not in ("None", now) for before, now in zip(stride, strides, strict=False)
    ):
        before = ", ".join("any" if each == "None" else each for each in stride)
        changes.append(_change(guard, frame, "stride", f"({before})", f"({', '.join(strides)})"))
    return changes


def _numbers(text: str) -> list[str]:
    return [number.strip() for number in text.split(",") if number.strip()]


def _unexplained_tensor_change(
    guard: FailedGuard, frame: FrameFacts, class_: str, keys: str
) -> GuardChange:
    """Return the change of a tensor whose other properties are as before: its mode or class."""
    torch = import_module("torch")
    value: Any = guard.value
    is_inference = torch.is_inference_mode_enabled()
    if is_inference and "Autograd" in keys:
        return _torch_change("inference_mode", "inference mode", "False", "True", guard.part)
    if not is_inference and "Autograd" not in keys and not value.is_inference():
        return _torch_change("inference_mode", "inference mode", "True", "False", guard.part)
    if value.is_inference() and "ADInplaceOrView" in keys:
        return _change(guard, frame, "inference_mode", "an ordinary tensor", "an inference tensor")
    if not value.is_inference() and "ADInplaceOrView" not in keys:
        return _change(guard, frame, "inference_mode", "an inference tensor", "an ordinary tensor")
    now = type(value).__name__
    if class_ != now:
        return _change(guard, frame, "type", class_, now)
    return _change(guard, frame, "other", "", "")


def _describe_marks(value: Any) -> str:
    marks = sorted(dynamic_marks(value))
    return f"dynamic: {', '.join(map(str, marks))}" if marks else "marked"


def _new_aliases(guard: FailedGuard, frame: FrameFacts) -> Iterator[GuardChange]:
    """Yield the tensors that are one object now, of those that were different ones."""
    sources = _call_arguments(without_comment(guard.part))
    seen: dict[int, str] = {}
    for source in sources:
        try:
            value = frame.evaluate(source)
        except Exception:
            continue
        if id(value) in seen:
            first = seen[id(value)]
            yield _alias_change(guard, frame, [first, source], "different tensors", "one tensor")
        else:
            seen[id(value)] = source


def _alias_change(
    guard: FailedGuard, frame: FrameFacts, sources: list[str], before: str, now: str
) -> GuardChange:
    sources = sorted(sources)
    change = _change(guard, frame, "aliasing", before, now, source=sources[0])
    names = " and ".join(readable(source, frame) for source in sources)
    return msgspec.structs.replace(change, source=", ".join(sources), name=names)


def _call_arguments(text: str) -> list[str]:
    try:
        call = ast.parse(text, mode="eval").body
    except SyntaxError:
        return []
    return [ast.unparse(each) for each in call.args] if isinstance(call, ast.Call) else []


# Values of Python.


def _value_change(guard: FailedGuard, frame: FrameFacts) -> GuardChange:
    before = _constant_of(guard)
    now = _describe(guard.value)
    if "dict.keys(" in guard.source or ".keys())[" in guard.source:
        return _change(guard, frame, "keys", before, now, source=_container_of(guard.source))
    if guard.source.endswith(".training"):
        return _change(guard, frame, "training", before, now)
    return _change(guard, frame, _kind_of_values(before, guard.value), before, now)


def _constant_of(guard: FailedGuard) -> str:
    """Return the constant that a guard compares with."""
    condition = without_comment(guard.part)
    if guard.type == "NOT_NONE":
        return "not None"
    if condition.endswith(" is None"):
        return "None"
    _, separator, constant = condition.partition(f"{guard.source} == ")
    if not separator:
        _, separator, constant = condition.rpartition(" == ")
    return _shortened(constant.strip()) if separator else condition


def _kind_of_values(before: str, now: object) -> ChangeKind:
    """Return the kind of a change between constants, by their types if these are the same."""
    if before in ("None", "not None") or now is None:
        return "none"
    try:
        type_ = type(ast.literal_eval(before))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return "type" if type(now) in _PLAIN_TYPES else "other"
    return _KINDS.get(type_, "other") if type_ is type(now) else "type"


def _container_of(source: str) -> str:
    """Return `d` of `list(dict.keys(d))[0]`."""
    match = re.search(r"list\((?:dict\.keys\((.+)\)|(.+)\.keys\(\))\)\[\d+\]$", source)
    return (match[1] or match[2]) if match else source


def _type_change(guard: FailedGuard, frame: FrameFacts) -> GuardChange:
    match = _CLASS.search(guard.part)
    before = match[1] if match else ""
    actual = type(guard.value)
    now = actual.__qualname__ if actual.__module__ == "builtins" else _full_name(actual)
    if guard.value is None:
        return _change(guard, frame, "none", _article(_short_class(before)), "None")
    if before == "NoneType":
        return _change(guard, frame, "none", "None", _describe(guard.value))
    if before == now:
        short = _short_class(now)
        return _change(guard, frame, "type", short, f"another {short}", note=_SAME_CLASS)
    return _change(guard, frame, "type", _short_class(before), _short_class(now))


def _full_name(class_: type) -> str:
    return f"{class_.__module__}.{class_.__qualname__}"


def _short_class(name: str) -> str:
    return name.rpartition(".")[2]


def _identity_change(guard: FailedGuard, frame: FrameFacts) -> GuardChange:
    match = _CLASS.search(guard.part)
    class_ = _short_class(match[1]) if match else ""
    if class_ == "bool" and isinstance(guard.value, bool):
        # Two objects only; older releases compare them by identity.
        kind: ChangeKind = "training" if guard.source.endswith(".training") else "bool"
        return _change(guard, frame, kind, str(not guard.value), str(guard.value))
    if class_ == "NoneType":
        return _change(guard, frame, "none", "None", _describe(guard.value))
    if guard.value is None:
        return _change(guard, frame, "none", _article(class_), "None")
    if class_ == "type" and isinstance(guard.value, type):
        now = guard.value.__name__
        return _change(guard, frame, "identity", "another class", now)
    what = "function" if class_ in ("code", "function") else class_ or "object"
    source = guard.source.removesuffix(".__code__")
    now = _describe_function(guard.value) if what == "function" else f"a new {what}"
    return _change(guard, frame, "identity", f"another {what}", now, source=source)


def _describe_function(value: Any) -> str:
    code = getattr(value, "__code__", value)
    return f"{getattr(code, 'co_name', 'a function')}()"


def _length_change(guard: FailedGuard, frame: FrameFacts) -> GuardChange:
    condition = without_comment(guard.part)
    number = re.search(r"(?:==|!=) (\d+)$", condition)
    before = number[1] if number else "0"
    if condition.startswith("not "):
        before = "0"
    return _change(guard, frame, "length", before, _length_of(guard.value))


def _length_of(value: Any) -> str:
    try:
        return str(len(value))
    except TypeError:
        return str(value.__length_hint__()) if hasattr(value, "__length_hint__") else ""


def _changes_of_dict_length(
    name: str, before: str, reason: str, frame: FrameFacts
) -> Iterator[GuardChange]:
    # torch removed the scope from the expression.
    for source in (name, re.sub(r"^(\w+)", r"L['\1']", name)):
        try:
            value = frame.evaluate(source)
            now = str(len(value))
        except Exception:
            continue
        guard = FailedGuard("DICT_LENGTH", source, reason, value)
        yield _change(guard, frame, "length", before, now)
        return


def _key_change(guard: FailedGuard, frame: FrameFacts) -> GuardChange:
    condition = without_comment(guard.part)
    now = _describe_keys(guard.value)
    return _change(guard, frame, "keys", readable(condition, frame), now)


def _describe_keys(value: Any) -> str:
    try:
        return _shortened(", ".join(_describe(key) for key in value))
    except TypeError:
        return ""


def _merged_keys(changes: list[GuardChange]) -> list[GuardChange]:
    """Return the changes with one change of keys per container."""
    kept: dict[object, GuardChange] = {}
    for change in changes:
        key: object = ("keys", change.source) if change.kind == "keys" else change
        known = kept.get(key)
        if known is not None and change.kind == "keys":
            change = msgspec.structs.replace(
                known,
                before=_shortened(f"{known.before}, {change.before}"),
                now=_shortened(f"{known.now}, {change.now}"),
            )
        kept[key] = change
    return list(kept.values())


# The state of torch.


def _state_changes(guard: FailedGuard) -> Iterator[GuardChange]:
    match = _GLOBAL_STATE.search(guard.part)
    before = msgspec.json.decode(match[1]) if match else {}
    now = current_global_state()
    for key, old in before.items():
        new = now.get(key)
        if new is None or old == new:
            continue
        if key == "autocast_state":
            yield from _autocast_changes(old, new, guard.part)
        else:
            yield _state_change(key, _state_value(key, old), _state_value(key, new), guard.part)


def _state_change(key: str, before: str, now: str, part: str) -> GuardChange:
    kind: ChangeKind = "autocast" if key.startswith("autocast") else _STATE_KINDS.get(key, "other")
    return _torch_change(kind, _STATE_NAMES.get(key, key.replace("_", " ")), before, now, part)


def _state_value(key: str, value: object) -> str:
    if key == "default_dtype" and isinstance(value, int):
        return _DTYPES.get(value, f"dtype {value}")
    return str(value)


def _autocast_changes(
    before: dict[str, Any], now: dict[str, Any], part: str
) -> Iterator[GuardChange]:
    if before.get("enabled") != now.get("enabled"):
        first, second = any(before.get("enabled", ())), any(now.get("enabled", ()))
        if first == second:
            yield _torch_change("autocast", "autocast", "one device", "another device", part)
        else:
            yield _torch_change("autocast", "autocast", str(first), str(second), part)
    elif before.get("dtype") != now.get("dtype"):
        pairs = zip(before.get("dtype", ()), now.get("dtype", ()), strict=False)
        first, second = next((a, b) for a, b in pairs if a != b)
        old, new = (_state_value("default_dtype", each) for each in (first, second))
        yield _torch_change("autocast", "autocast dtype", old, new, part)
    else:
        old, new = (str(state.get("cached_enabled")) for state in (before, now))
        yield _torch_change("autocast", "autocast cache", old, new, part)


def _torch_change(kind: ChangeKind, name: str, before: str, now: str, part: str) -> GuardChange:
    return GuardChange(kind, "torch", "", name, before, now, guard=without_comment(part))


def _default_device_change(guard: FailedGuard) -> GuardChange:
    now = str(import_module("torch").get_default_device())
    return _torch_change("device", "default device", "another device", now, guard.part)


# Conditions on sizes and numbers.


class _Symbol(NamedTuple):
    """A number in a condition: a size or a stride of a tensor, its value, or a Python number."""

    kind: ChangeKind
    source: str
    expression: str
    dim: int | None = None
    note: str = ""


def _condition_change(guard: FailedGuard, frame: FrameFacts) -> GuardChange:
    condition = without_comment(guard.part)
    try:
        tree = ast.parse(condition, mode="eval").body
    except (SyntaxError, ValueError):
        return _change(guard, frame, "other", "", "")
    match tree:
        case ast.Compare(left=left, ops=[ast.Is() | ast.IsNot() as op], comparators=[right]):
            sources = [ast.unparse(left), ast.unparse(right)]
            what = _evaluated_text(sources[0], frame).rpartition(" ")[2]
            what = what if what == "tensor" else "object"
            texts = (f"one {what}", f"different {what}s")
            before, now = texts if isinstance(op, ast.Is) else texts[::-1]
            return _alias_change(guard, frame, sources, before, now)
    symbol = next(_symbols(tree), None)
    if symbol is None:
        return _change(guard, frame, "other", readable(condition, frame), "")
    now = _evaluated_text(symbol.expression, frame)
    before = _allowed(tree, symbol, frame)
    kind = _kind_of_number(symbol, frame)
    return _change(guard, frame, kind, before, now, symbol.dim, symbol.note, symbol.source)


def _symbols(node: ast.AST) -> Iterator[_Symbol]:
    """Yield the numbers in a condition, in the order in which they are written."""
    match node:
        case ast.Subscript(
            value=ast.Call(func=ast.Attribute(value=inner, attr="size" | "stride" as what)),
            slice=ast.Constant(value=int(dim)),
        ):
            kind: ChangeKind = "size" if what == "size" else "stride"
            yield _Symbol(kind, ast.unparse(inner), ast.unparse(node), dim)
        case ast.Call(func=ast.Attribute(value=inner, attr="storage_offset")):
            yield _Symbol("stride", ast.unparse(inner), ast.unparse(node))
        case ast.Call(func=ast.Attribute(attr="item")):
            text = ast.unparse(node)
            yield _Symbol("int", text, text, note=_ZERO_D)
        case ast.Subscript(value=ast.Name(id="L" | "G")) | ast.Attribute() | ast.Subscript():
            yield _Symbol("int", ast.unparse(node), ast.unparse(node))
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _symbols(child)


def _kind_of_number(symbol: _Symbol, frame: FrameFacts) -> ChangeKind:
    if symbol.kind != "int":
        return symbol.kind
    try:
        return _KINDS.get(type(frame.evaluate(symbol.expression)), "other")
    except Exception:
        return "other"


def _allowed(tree: ast.expr, symbol: _Symbol, frame: FrameFacts) -> str:
    """Return what a condition allows for a number, such as `2` or `at least 2`."""
    match tree:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            texts = {ast.unparse(left): right, ast.unparse(right): left}
            other = texts.get(symbol.expression)
            if other is None:
                return readable(ast.unparse(tree), frame)
            limit = readable(ast.unparse(other), frame)
            is_left = ast.unparse(left) == symbol.expression
            return _bound(op, limit, is_left) or readable(ast.unparse(tree), frame)
    return readable(ast.unparse(tree), frame)


def _bound(op: ast.cmpop, limit: str, is_left: bool) -> str:
    match op, is_left:
        case ast.Eq(), _:
            return limit
        case ast.NotEq(), _:
            return f"not {limit}"
        case (ast.LtE(), True) | (ast.GtE(), False):
            return f"at most {limit}"
        case (ast.LtE(), False) | (ast.GtE(), True):
            return f"at least {limit}"
        case (ast.Lt(), True) | (ast.Gt(), False):
            return f"less than {limit}"
        case (ast.Lt(), False) | (ast.Gt(), True):
            return f"more than {limit}"
    return ""


def _evaluated_text(expression: str, frame: FrameFacts) -> str:
    try:
        return _describe(frame.evaluate(expression))
    except Exception:
        return ""


# Values as text.


def _describe(value: object) -> str:
    """Return a plain value as Python writes it, and of anything else only its class."""
    if type(value) in _PLAIN_TYPES:
        return _shortened(repr(value))
    if isinstance(value, import_module("torch").Tensor):
        return "a tensor"
    return _article(type(value).__name__)


def _article(name: str) -> str:
    return f"an {name}" if name[:1].lower() in "aeiou" else f"a {name}"


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


def _without_consequences(changes: list[GuardChange]) -> Iterator[GuardChange]:
    """Yield the changes that do not follow from others of the same entry."""
    modes = {change.kind for change in changes if change.place == "torch"}
    replaced = [change.source for change in changes if change.kind in _CONTAINERS]
    marked = {change.source for change in changes if change.kind == "marking"}
    lengths = {change.source for change in changes if change.kind == "length"}
    for change in changes:
        if modes and change.place != "torch" and change.kind in ("other", "inference_mode"):
            continue
        if any(_is_inside(change.source, source) for source in replaced):
            continue
        if change.kind == "other" and change.source in marked:
            continue
        if change.kind == "keys" and change.source in lengths:
            continue
        yield change


def _is_inside(source: str, container: str) -> bool:
    return source != container and source.startswith((f"{container}.", f"{container}["))
