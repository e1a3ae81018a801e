"""Lists the places to compile in one outermost module or function.

The calls run in eager mode with every module timed. A submodule that takes only a small part
of that time is not worth a trial.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from msgspec.structs import replace

from fullgraph.capture.dynamo_hooks import is_skipped_by_rule
from fullgraph.where.recording import Root
from fullgraph.where.report import Choice, ChoiceKind, NotTried

# Modules that take a smaller part of the time are not tried.
_SMALLEST_SHARE = 0.1
_PROFILED_RUNS = 3
_MOST_GROUPS = 4
_MOST_SUBMODULES = 4
_CONTAINERS = (torch.nn.ModuleList, torch.nn.Sequential, torch.nn.ModuleDict)
_EVERY = "*"

Path = tuple[int, str]


@dataclass
class Profile:
    """How long the modules of a root take in eager mode, each with its submodules."""

    seconds: dict[Path, float]

    @property
    def total(self) -> float:
        """The time of all outermost modules; a function may spend more outside of them."""
        return sum(spent for (_, path), spent in self.seconds.items() if not path)


def profile_modules(root: Root, run: Callable[[], Any]) -> Profile:
    """Return the time of each module while `run` makes the recorded calls.

    That is the shortest of several runs, so that a delay does not make a module look important.
    """
    runs = [_timed_modules(root, run) for _ in range(_PROFILED_RUNS)]
    shared = set.intersection(*(set(each) for each in runs))
    return Profile({path: min(each[path] for each in runs) for path in shared})


def _timed_modules(root: Root, run: Callable[[], Any]) -> dict[Path, float]:
    paths = {
        id(module): (number, path)
        for number, (_, outermost) in enumerate(root.modules)
        for path, module in outermost.named_modules()
    }
    seconds: dict[Path, float] = defaultdict(float)
    call_module = torch.nn.Module.__call__

    def timed_call(module: torch.nn.Module, /, *args: Any, **kwargs: Any) -> Any:
        started = time.perf_counter()
        try:
            return call_module(module, *args, **kwargs)
        finally:
            path = paths.get(id(module))
            if path is not None:
                seconds[path] += time.perf_counter() - started

    torch.nn.Module.__call__ = timed_call
    try:
        run()
    finally:
        torch.nn.Module.__call__ = call_module
    return seconds


@dataclass
class _Group:
    """All modules of one class at one pattern of paths, such as `layers.*`."""

    pattern: str
    class_name: str
    paths: list[Path]
    seconds: float

    @property
    def is_repeated(self) -> bool:
        """Whether the modules themselves are the items of a container."""
        return self.pattern.rpartition(".")[2] == _EVERY


def list_choices(root: Root, profile: Profile) -> tuple[list[Choice], list[NotTried]]:
    """Return what to try, the most promising first, and what is left out."""
    groups = _groups(root, profile)
    large = [each for each in groups if each.seconds >= _SMALLEST_SHARE * profile.total]
    blocks = [each for each in large if each.is_repeated]
    others = [each for each in large if not each.is_repeated]
    not_tried = [
        NotTried(_name(root, each), "the time is better spent on larger parts")
        for each in (*blocks[_MOST_GROUPS:], *others[_MOST_SUBMODULES:])
    ]
    if small := len(groups) - len(large):
        share = f"{_SMALLEST_SHARE:.0%}"
        what = "smaller part" if small == 1 else "smaller parts"
        not_tried.append(
            NotTried(f"{small} {what}", f"less than {share} of the time of a call in eager mode")
        )
    outermost = _outermost(blocks)
    choices = [*_whole(root)]
    if len(outermost) > 1:
        choices.append(_all_blocks(root, outermost))
    choices += [_choice(root, each, "blocks") for each in blocks[:_MOST_GROUPS]]
    choices += [_choice(root, each, "submodule") for each in others[:_MOST_SUBMODULES]]
    return _with_todays(root, choices), not_tried


def _groups(root: Root, profile: Profile) -> list[_Group]:
    """Return the called modules by pattern and class, those that take most time first."""
    found: dict[tuple[str, str, str], _Group] = {}
    for number, (owner, outermost) in enumerate(root.modules):
        for path, pattern, module in _walk(outermost, "", ""):
            # The outermost modules of a function or method are choices.
            is_whole = not path and module is root.target.original
            is_wrapper = hasattr(module, "_orig_mod")
            if is_whole or is_wrapper or (number, path) not in profile.seconds:
                continue
            if not _is_composite(module):
                continue
            key = (owner, pattern, type(module).__name__)
            group = found.setdefault(key, _Group(pattern, key[2], [], 0.0))
            group.paths.append((number, path))
            group.seconds += profile.seconds[number, path]
    repeated = [each for each in found.values() if len(each.paths) > 1 or not each.is_repeated]
    return sorted(repeated, key=lambda each: -each.seconds)


def _walk(
    module: torch.nn.Module, path: str, pattern: str
) -> Iterator[tuple[str, str, torch.nn.Module]]:
    """Yield each module with its path, and with the pattern that it shares with its siblings."""
    yield path, pattern, module
    for name, child in module.named_children():
        # The result of torch.compile is a module around the original one.
        part = _EVERY if _is_repeated(module, child) else "" if name == "_orig_mod" else name
        yield from _walk(child, _joined(path, name), _joined(pattern, part))


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path and name else path or name


def _is_composite(module: torch.nn.Module) -> bool:
    """Return whether there is something to fuse: one layer of torch is one operator."""
    return any(True for _ in module.children()) or not is_skipped_by_rule(module.forward)


def _outermost(blocks: list[_Group]) -> list[_Group]:
    """Return the groups that are not inside of another one."""
    return [
        each
        for each in blocks
        if not any(
            each.paths[0][0] == other.paths[0][0] and each.pattern.startswith(f"{other.pattern}.")
            for other in blocks
        )
    ]


def _whole(root: Root) -> Iterator[Choice]:
    """Yield the whole of a root: the module, or the function or method that is compiled."""
    module = root.target.module
    if module is not None and isinstance(root.target.original, torch.nn.Module):
        code = _compile_code(root, root.modules[0][0], module)
        kind = type(module).__name__
        yield Choice(root.name, "whole", kind, 1, code, root.is_compiled, ((0, ""),))
        return
    name = root.name if module is not None else root.name.rpartition(".")[2]
    line = f"{name} = torch.compile({name}{options_text(root, first=False)})"
    yield Choice(root.name, "function", "", 1, (line,), today=root.is_compiled)


def _choice(root: Root, group: _Group, kind: ChoiceKind) -> Choice:
    return Choice(
        _name(root, group), kind, group.class_name, len(group.paths), _code(root, group),
        paths=tuple(group.paths),
    )  # fmt: skip


def _all_blocks(root: Root, groups: list[_Group]) -> Choice:
    return Choice(
        name=" + ".join(_name(root, each) for each in groups),
        kind="blocks",
        class_name="",
        count=sum(len(each.paths) for each in groups),
        code=tuple(line for each in groups for line in _code(root, each)),
        paths=tuple(path for each in groups for path in each.paths),
    )


def _with_todays(root: Root, choices: list[Choice]) -> list[Choice]:
    """Mark the choice that the program makes; add one if none of them is the same."""
    parts = root.effective_parts
    if not parts or any(each.today for each in choices):
        return choices
    compiled = {_path_of(root, part.target.original) for part in parts}
    for place, choice in enumerate(choices):
        if compiled == set(choice.paths):
            return [*choices[:place], replace(choice, today=True), *choices[place + 1 :]]
    names = list(dict.fromkeys(part.target.name for part in parts))
    shown = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
    return [*choices, Choice(shown, "today", "", len(parts), (), today=True)]


def _path_of(root: Root, original: Any) -> Path | None:
    """Return the path of a compiled module; None for a function."""
    owner = getattr(original, "__self__", original)
    for number, (_, outermost) in enumerate(root.modules):
        for path, module in outermost.named_modules():
            if module is owner:
                return number, path
    return None


def _name(root: Root, group: _Group) -> str:
    return _expression(root.modules[group.paths[0][0]][0], group.pattern)


def _expression(owner: str, path: str) -> str:
    """Return the Python expression of a path: `model.features[0]`; `*` stays as it is."""
    text = owner
    for part in path.split(".") if path else ():
        text += f"[{part}]" if part.isdigit() else f".{part}"
    return text


def _code(root: Root, group: _Group) -> tuple[str, ...]:
    """Return the lines that compile all modules of a group."""
    number, first = group.paths[0]
    owner, outermost = root.modules[number]
    lines: list[str] = []
    before, *after = group.pattern.split(_EVERY)
    expression = _expression(owner, before.strip("."))
    names = ["layer"] if len(after) == 1 else ["stage", "block", "layer"]
    depth = 0
    for place, (part, (container, item)) in enumerate(
        zip(after, _repetitions(outermost, first), strict=True)
    ):
        name = names[min(place, len(names) - 1)]
        values = ".values()" if isinstance(container, torch.nn.ModuleDict) else ""
        lines.append(f"{_indent(depth)}for {name} in {expression}{values}:")
        depth += 1
        if any(type(each) is not type(item) for each in container.children()):
            lines.append(f"{_indent(depth)}if isinstance({name}, {type(item).__name__}):")
            depth += 1
        expression = _expression(name, part.strip("."))
    module = outermost.get_submodule(first)
    owners = len({each for each, _ in group.paths})
    each = f"  # each of the {owners}" if owners > 1 else ""
    lines += [f"{_indent(depth)}{line}{each}" for line in _compile_code(root, expression, module)]
    return tuple(lines)


def _indent(depth: int) -> str:
    return "    " * depth


def _repetitions(
    outermost: torch.nn.Module, path: str
) -> list[tuple[torch.nn.Module, torch.nn.Module]]:
    """Return each container of repeated modules on the way to a path, with the item on that way."""
    found = []
    module = outermost
    for part in path.split(".") if path else ():
        item = module.get_submodule(part)
        if _is_repeated(module, item):
            found.append((module, item))
        module = item
    return found


def _is_repeated(container: torch.nn.Module, item: torch.nn.Module) -> bool:
    """Return whether a module is one of several of its class in a container."""
    same = sum(type(each) is type(item) for each in container.children())
    return isinstance(container, _CONTAINERS) and same > 1 and _is_composite(item)


def _compile_code(root: Root, expression: str, module: torch.nn.Module) -> tuple[str, ...]:
    """Return the line that compiles one module; `Module.compile` does nothing for torch's own."""
    if is_skipped_by_rule(module.forward):
        options = options_text(root, first=False)
        return (f"{expression}.forward = torch.compile({expression}.forward{options})",)
    return (f"{expression}.compile({options_text(root, first=True)})",)


def options_text(root: Root, *, first: bool) -> str:
    """Return the options of the program as they are written in a call."""
    shown = ", ".join(
        f"{name}={value!r}" if isinstance(value, bool | str | dict | None) else f"{name}=…"
        for name, value in root.options.items()
        if name != "fullgraph"
    )
    return shown if first or not shown else f", {shown}"
