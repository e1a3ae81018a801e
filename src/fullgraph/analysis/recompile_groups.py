"""Groups of recompiles: all recompiles of one function for one reason.

A recompile has the failed guards of every piece of compiled code of its frame. The reason is what
differs from the piece that fits best, because anything else did not have to be different.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from fullgraph.analysis.bounded_recompiles import is_bounded, why_not_bounded
from fullgraph.analysis.compiles import compiles_by_id, raising_compiles
from fullgraph.analysis.dynamic_sizes import list_dynamic_sizes, sizes_by_compile
from fullgraph.analysis.eager_calls import (
    FunctionCalls,
    all_ran_again,
    calls_of,
    count_calls,
    count_targets,
)
from fullgraph.analysis.occurrences import qualified_name
from fullgraph.analysis.state import AnalysisState, CompileKey
from fullgraph.analysis.user_lines import program_sources, user_lines
from fullgraph.analysis.user_lines.observed import GroupMember
from fullgraph.analysis.values_at_breaks import name_at_break
from fullgraph.model.changes import change_title, verb_for
from fullgraph.model.events import Code, Frame, GuardChange, GuardFailure, Recompile
from fullgraph.model.report import DynamicSizeFinding, RecompileGroup

_MOST_TIED = 5
# What one piece of code could have as a symbol.
_NUMBERS = ("size", "stride", "int", "float")
# Such as `x.size(0) % 4 == 0`, which is a condition by itself.
_RELATION = re.compile(r"[=<>]")
_UNKNOWN = GuardChange("other", "torch", "", "something that torch does not name")
_PLACES = ("torch", "argument", "closure", "default", "global", "attribute", "parameter", "break")

# The function and what about it changes.
_Key = tuple[Code, str, str, int | None]


@dataclass
class _Recompiles:
    """The recompiles of one group so far, each with what changed."""

    code: Code
    members: list[GroupMember] = field(default_factory=list)
    # What changed at the same time, by the number of recompiles.
    tied: Counter[str] = field(default_factory=Counter)

    @property
    def changes(self) -> list[GuardChange]:
        """What changed, in the order of the recompiles."""
        return [member.change for member in self.members]

    @property
    def refused(self) -> list[Recompile]:
        """The recompiles that a limit forbade."""
        return [member.recompile for member in self.members if member.recompile.limit]

    @property
    def refused_keys(self) -> set[CompileKey]:
        """The refused recompiles, by process and compile id."""
        return {
            (member.process, member.recompile.compile)
            for member in self.members
            if member.recompile.limit
        }

    @property
    def done(self) -> list[tuple[int, Recompile]]:
        """The recompiles that took place, each with its process."""
        return [
            (member.process, member.recompile)
            for member in self.members
            if not member.recompile.limit
        ]


def group_recompiles(state: AnalysisState) -> tuple[RecompileGroup, ...]:
    """Return the groups, the one whose function ran most often in eager mode first.

    Equal ones are in the order of their first recompiles, so that two runs list them alike.
    """
    if not any(failure.changes for _, each in state.events(Recompile) for failure in each.failures):
        # A session of an older version has only the texts of guards.
        return ()
    groups = [_group(state, found) for found in _collected(state).values()]
    return tuple(sorted(groups, key=_rank))


def _rank(group: RecompileGroup) -> tuple[float, ...]:
    eager = group.calls.eager + group.calls.raised if group.calls is not None else 0
    # Measured times differ from run to run, and `--apply N` means the group that was listed.
    return (-eager, -group.refused, -group.recompiles)


def _collected(state: AnalysisState) -> dict[_Key, _Recompiles]:
    events = state.events(Recompile)
    candidates = [_closest(event) for _, event in events]
    # Of several changes at once, the one that also explains other recompiles is the reason.
    frequency = Counter(
        _key(event.code, change)
        for (_, event), changes in zip(events, candidates, strict=True)
        for change in {_key(event.code, each): each for each in changes}.values()
    )
    groups: dict[_Key, _Recompiles] = {}
    for (process, event), changes in zip(events, candidates, strict=True):
        first = min(changes, key=lambda change: -frequency[_key(event.code, change)])
        group = groups.setdefault(_key(event.code, first), _Recompiles(event.code))
        group.members.append(GroupMember(process, event, first))
        titles = {change_title(each) for each in changes} - {change_title(first)}
        group.tied.update(sorted(titles))
    return groups


def _key(code: Code, change: GuardChange) -> _Key:
    return code, change.source or change.name, change.kind, change.dim


def _closest(event: Recompile) -> Sequence[GuardChange]:
    """Return the changes since the piece of compiled code that fits best, the likeliest first.

    Dynamo lists the code that ran last first, so that one decides between equally good ones.
    """
    known = [failure for failure in event.failures if failure.changes]
    if not known:
        return [_from_text(event)]
    closest = min(known, key=_distance).changes
    return sorted(closest, key=lambda change: (_PLACES.index(change.place), len(change.source)))


def _distance(failure: GuardFailure) -> tuple[int, int, bool]:
    """Return how much changed: first what is no number, because that code is for other inputs.

    Then the guards that failed, also those inside of another container. A mode counts once, though
    the guard of every tensor fails, and so do the keys of a dictionary, each of which has a guard.
    What has no name counts more. A dictionary of another length also has other keys.
    """
    changes = sum(1 if change.before else 10 for change in failure.changes)
    counts_once = any(each.place == "torch" or each.kind == "keys" for each in failure.changes)
    others = sum(change.kind not in _NUMBERS for change in failure.changes)
    has_length = any(change.kind == "length" for change in failure.changes)
    return others, changes if counts_once else max(changes, len(failure.failed)), has_length


def _from_text(event: Recompile) -> GuardChange:
    """Return the change of a session that has only the texts of guards."""
    texts = [text for failure in event.failures for text in failure.failed]
    return GuardChange("other", "torch", "", texts[0], guard=texts[0]) if texts else _UNKNOWN


def _group(state: AnalysisState, found: _Recompiles) -> RecompileGroup:
    code, newest, refused = found.code, found.changes[-1], found.refused
    size = _specialized_size(state, code, newest)
    compiles = state.result(compiles_by_id)
    finished = [compiles.get((process, event.compile)) for process, event in found.done]
    lines = user_lines(state, found.members)
    values = _values(state, found.members)
    calls = calls_of(state, code)
    is_known = newest.kind == "str" and _are_all_strings(state, found, values, calls)
    bounded = not refused and is_bounded(newest, values, is_known)
    return RecompileGroup(
        kind=newest.kind,
        place=newest.place,
        source=newest.source,
        name=name_at_break(state, code, newest),
        dim=newest.dim,
        values=values,
        function=code.function,
        qualified=qualified_name(code),
        file=code.file,
        line=code.line,
        owner=state.owners.owner_of(code.file),
        resumed_at=code.resumed_at,
        compiles=tuple(event.compile for _, event in found.done),
        recompiles=len(found.done),
        refused=len(refused),
        compile_seconds=round(sum(each.seconds for each in finished if each is not None), 6),
        limit=refused[-1].limit if refused else None,
        limit_value=refused[-1].limit_value if refused else None,
        called_at=lines.called_at,
        also_called_at=lines.also_called_at,
        bound_at=lines.bound_at,
        written_at=lines.written_at,
        specialized_at=_specialized_at(size, found.changes),
        calls=count_calls(calls),
        bounded=bounded,
        wrapped=_wrapped(found.members),
        limit_raises=not found.refused_keys.isdisjoint(state.result(raising_compiles)),
        notes=(
            *_notes(found, calls),
            *_notes_on_size(size),
            *_notes_on_future(found, None if bounded else _why_not_bounded(state, found, values)),
        ),
    )


def _are_all_strings(
    state: AnalysisState, found: _Recompiles, values: Sequence[str], calls: FunctionCalls
) -> bool:
    """Return whether it is known that there are no other strings; may read the whole program."""
    process = found.members[0].process
    return all_ran_again(calls) or state.result(program_sources).has_strings(values, process)


def _specialized_size(
    state: AnalysisState, code: Code, change: GuardChange
) -> DynamicSizeFinding | None:
    """Return what is known about a size that code specialized although it was to be dynamic."""
    for size in state.result(list_dynamic_sizes):
        is_same = (size.source, size.dim) == (change.source, change.dim)
        function = (size.file, size.line, size.function)
        if is_same and size.specialized_to and function == (code.file, code.line, code.function):
            return size
    return None


def _why_not_bounded(state: AnalysisState, found: _Recompiles, values: Sequence[str]) -> str | None:
    """Return why few recompiles may become many, or that a number is dynamic from now on."""
    newest, last = found.changes[-1], found.members[-1].recompile.compile
    for size in state.result(list_dynamic_sizes):
        is_same = (size.source, size.dim) == (newest.source, newest.dim)
        if is_same and size.since == last and not size.specialized_to:
            return f"dynamic since compile {last}: no other value compiled again"
    return why_not_bounded(newest, values)


def _specialized_at(
    size: DynamicSizeFinding | None, changes: Sequence[GuardChange]
) -> Frame | None:
    """Return the line that needs the value, or else the first one that torch names."""
    if size is not None and size.specialized_at is not None:
        return size.specialized_at
    return next((each.line for each in changes if each.line), None)


def _values(state: AnalysisState, members: Sequence[GroupMember]) -> tuple[str, ...]:
    """Return the values in order: in each process that of the first compile, then each new one."""
    values: list[str] = []
    seen: set[int] = set()
    for member in members:
        if member.process not in seen:
            values.append(_value_before(state, member))
        values.append(member.change.now)
        seen.add(member.process)
    return tuple(value for value in values if value)


def _value_before(state: AnalysisState, member: GroupMember) -> str:
    """Return the value for which the code was compiled that did not fit.

    A guard on a dynamic size only says what it may be, such as `not 8`.
    """
    change = member.change
    if not _is_condition(change):
        return change.before
    failures = member.recompile.failures
    compiled = next((each.compiled for each in failures if change in each.changes), "")
    for size in state.result(sizes_by_compile).get((member.process, compiled), ()):
        is_same = (size.source, size.dim) == (change.source, change.dim)
        if is_same and size.value is not None:
            return str(size.value)
    return change.before


def _is_condition(change: GuardChange) -> bool:
    """Return whether the value before is not a number but what a number may be."""
    try:
        float(change.before)
    except ValueError:
        return change.kind in ("size", "int", "float") and bool(change.before)
    return False


def _wrapped(members: Sequence[GroupMember]) -> tuple[Code, ...]:
    wrapped = [member.recompile.wrapped for member in members]
    return tuple(dict.fromkeys(each for each in wrapped if each is not None))


def _notes(found: _Recompiles, calls: FunctionCalls) -> Iterator[str]:
    newest_event = found.members[-1].recompile
    if newest_event.dynamic is not None and found.changes[-1].kind in _NUMBERS:
        yield f"dynamic={newest_event.dynamic}"
    yield from dict.fromkeys(change.note for change in found.changes if change.note)
    first = found.changes[0]
    if _is_condition(first) and not _is_zero_or_one(first):
        # Sizes that were equal have one symbol, and a branch allows only some sizes.
        name = first.name if first.dim is None else f"{first.name}.size({first.dim})"
        is_relation = name in first.before or _RELATION.search(first.before)
        condition = first.before if is_relation else f"{name} is {first.before}"
        yield f"compiled for calls in which {condition}"
    if any(_is_zero_or_one(change) for change in found.changes):
        yield "0 and 1 are specialized even if a size is dynamic"
    if found.tied:
        yield _tied_note([title for title, _ in found.tied.most_common(_MOST_TIED)])
    yield from _notes_on_sharing(found, newest_event, calls)


def _notes_on_sharing(found: _Recompiles, newest: Recompile, calls: FunctionCalls) -> Iterator[str]:
    """Yield what shares the code; after a refused compile, only calls show that there is more."""
    targets = count_targets(calls, found.code)
    at_least = "at least " if found.refused and not targets else ""
    if newest.instances > 1:
        # Each object is compiled by itself if there are no other calls of torch.compile.
        is_alone = newest.wrappers in (0, newest.instances)
        objects = max(newest.instances, targets if is_alone else 0)
        # With more calls of torch.compile than objects, some objects may not be compiled yet.
        is_known = not found.refused or (is_alone and targets >= newest.instances)
        yield f"{'' if is_known else 'at least '}{objects} objects share this code and its limit"
    if newest.wrappers > 1:
        wrappers = max(newest.wrappers, targets)
        yield f"{at_least}{wrappers} calls of torch.compile share this code and its limit"


def _notes_on_size(size: DynamicSizeFinding | None) -> Iterator[str]:
    if size is not None and size.because:
        yield f"{size.because}: {size.advice}"


def _notes_on_future(found: _Recompiles, not_bounded: str | None) -> Iterator[str]:
    if found.refused:
        yield "after the limit, calls that fit compiled code still use it"
    elif not_bounded is not None:
        yield not_bounded


def _is_zero_or_one(change: GuardChange) -> bool:
    return (
        change.kind in ("size", "int")
        and change.now in ("0", "1")
        and (change.before == "at least 2")
    )


def _tied_note(titles: Sequence[str]) -> str:
    verb = verb_for(titles[0]) if len(titles) == 1 else "change"
    return f"{', '.join(titles)} {verb} together with it"
