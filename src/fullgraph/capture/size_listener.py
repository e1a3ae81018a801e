"""Listens to sizes: which are dynamic and why, and which line makes one a constant.

Dynamo creates a symbol for each size of each input; a static size is a number instead. A symbol
that turns out to have only one value is replaced by that number: the size is specialized.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from fullgraph.capture.dynamo_hooks import listed_sources
from fullgraph.capture.frame_records import FrameRecord, ListenerContext, SizeRecord
from fullgraph.capture.guard_sources import describe_source, facts_of_frame
from fullgraph.capture.stacks import traced_frames
from fullgraph.model.events import Code, DynamicSize, SizeReason, Sizes, StaticSize

# The size of an input; those of the tensor that an input is a view of repeat them.
_SIZE = re.compile(r"((?:(?!\._base).)+)\.size\(\)\[(\d+)\]")
# Offsets and strides follow from the sizes.
_OTHER_PROPERTY = re.compile(r"\.(?:stride|storage_offset|item)\(\)|\._base\b")
_PARAMETER = re.compile(r"\._(?:parameters|buffers)\[")
_MOST_EQUAL = 5


class SizeListener:
    """Emits a `Sizes` for each compile with a size that is or was to be dynamic."""

    def __init__(self, context: ListenerContext) -> None:
        self._context = context
        # The newest value of each size, by the code that has it as an input.
        self._values: dict[Code, dict[str, int | float]] = {}

    def after_symbol(
        self,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        result: Any,
        error: BaseException | None,
    ) -> None:
        """Keep a size, whether it is static or dynamic."""
        record = self._context.records.current
        if record is None or not record.compile_id or error is not None:
            return
        # torch.export has no frame, and its sizes are dynamic because its caller says so.
        if record.frame is None:
            return
        # self, value, source, dynamic_dim, constraint_dim
        env, value, source = args[:3]
        name = source.name() if callable(source.name) else source.name
        if _OTHER_PROPERTY.search(name):
            return
        sizes = _sizes_of(record, env)
        kind = args[3] if len(args) > 3 else kwargs.get("dynamic_dim")
        constraint = args[4] if len(args) > 4 else kwargs.get("constraint_dim")
        if getattr(kind, "name", "") == "STATIC":
            sizes.static[name] = value
            return
        is_specialized = not result.free_symbols
        sizes.dynamic[name] = self._describe(
            record, name, value, self._reason(record, name, kind, constraint), is_specialized
        )
        if not is_specialized:
            sizes.symbols.setdefault(result, []).append(name)

    def after_replacement(
        self,
        args: tuple[Any, ...],
        _: dict[str, Any],
        __: Any,
        error: BaseException | None,
    ) -> None:
        """Note that a size became a constant, and at which line."""
        record = self._context.records.current
        if record is None or record.sizes is None or error is not None:
            return
        env, symbol, target = args[:3]
        if not target.is_number or env is not record.sizes.shape_env:
            return
        if env.replacements.get(symbol) == target:
            names = [*_names(record.sizes, env, symbol)]
            self._specialize(record, record.sizes, names, target)

    def emit(self, record: FrameRecord) -> None:
        """Emit the dynamic sizes of a compile, and keep the values for the next one."""
        sizes = record.sizes
        if sizes is None:
            return
        values = self._values.setdefault(record.root(), {})
        values.update(sizes.static)
        dynamic = tuple(sizes.dynamic.values())
        values.update(
            (name, size.value) for name, size in sizes.dynamic.items() if size.value is not None
        )
        if dynamic:
            self._context.emit(Sizes(record.compile_id, record.root(), dynamic))

    def _describe(
        self, record: FrameRecord, name: str, value: Any, why: SizeReason, is_specialized: bool
    ) -> DynamicSize:
        source, dim = _split(name)
        number = value if isinstance(value, int | float) else None
        return DynamicSize(
            source=source,
            name=_readable(record, source),
            dim=dim,
            why=why,
            value=number,
            before=self._values.get(record.root(), {}).get(name),
            specialized_to=number if is_specialized else None,
        )

    def _reason(self, record: FrameRecord, name: str, kind: Any, constraint: Any) -> SizeReason:
        """Return why a size is dynamic, as Dynamo's arguments and torch's settings tell."""
        if getattr(kind, "name", "") == "UNBACKED":
            return "unbacked_sources" if _is_listed(name, "unbacked_sources") else "mark_unbacked"
        if constraint is not None and not constraint.warn_only:
            return "mark_dynamic"
        if _is_listed(name, "dynamic_sources"):
            return "dynamic_sources"
        if constraint is None and not self._context.internals.config.assume_static_by_default:
            return "dynamic"
        if constraint is None and _SIZE.fullmatch(name):
            return "maybe_mark_dynamic"
        return "automatic" if record.root() in self._values else "profile"

    def _specialize(
        self, record: FrameRecord, sizes: SizeRecord, names: list[str], target: Any
    ) -> None:
        number = int(target) if target.is_integer else float(target)
        equal = tuple(_equal_sizes(record, sizes, number))
        stack = () if record.is_in_backend else self._traced_frames()
        for name in names:
            size = sizes.dynamic[name]
            if size.specialized_to is None:
                sizes.dynamic[name] = msgspec.structs.replace(
                    size,
                    specialized_to=number,
                    stack=stack,
                    in_backend=record.is_in_backend,
                    equal_to=equal,
                )

    def _traced_frames(self) -> Any:
        return traced_frames(list(self._context.internals.tracing_context.extract_stack()))


def _split(name: str) -> tuple[str, int | None]:
    """Return the expression of a tensor and the dimension; None for a number of Python."""
    match = _SIZE.fullmatch(name)
    return (match[1], int(match[2])) if match else (name, None)


def _readable(record: FrameRecord, source: str) -> str:
    """Return the name of a value in the frame."""
    return describe_source(source, facts_of_frame(record.frame)).name


def _equal_sizes(record: FrameRecord, sizes: SizeRecord, number: float) -> Iterator[StaticSize]:
    """Yield static sizes that are equal to a number; those of inputs before those of parameters."""
    equal = [name for name, value in sizes.static.items() if value == number]
    equal.sort(key=lambda name: _PARAMETER.search(name) is not None)
    for name in equal[:_MOST_EQUAL]:
        source, dim = _split(name)
        is_parameter = _PARAMETER.search(name) is not None
        yield StaticSize(_readable(record, source), dim, is_parameter)


def _sizes_of(record: FrameRecord, env: Any) -> SizeRecord:
    """Return the sizes of the current attempt; those of an earlier one are dropped."""
    if record.sizes is None or record.sizes.shape_env is not env:
        record.sizes = SizeRecord(env)
    return record.sizes


def _names(sizes: SizeRecord, env: Any, symbol: Any) -> list[str]:
    """Return the sizes of a symbol, and of the symbols that were found to be equal to it."""
    equal = [each for each in sizes.symbols if env.replacements.get(each) == symbol]
    return [name for each in (symbol, *equal) for name in sizes.symbols.get(each, ())]


def _is_listed(name: str, option: str) -> bool:
    """Return whether a setting of torch lists a size or its tensor; entries are patterns."""
    source, dim = _split(name)
    for entry in filter(None, re.split(r",\s*", listed_sources(option))):
        pattern, _, wanted = entry.rpartition(":") if entry[-1:].isdigit() else (entry, "", "")
        if wanted in ("", str(dim)) and (pattern == source or _matches(pattern, source)):
            return True
    return False


def _matches(pattern: str, source: str) -> bool:
    try:
        return re.fullmatch(pattern, source) is not None
    except re.error:
        return False
