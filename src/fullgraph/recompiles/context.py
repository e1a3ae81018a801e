"""What remedies know about the program: its recompiles, its source, and what it compiles where."""

from __future__ import annotations

import ast
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from fullgraph.analysis.user_lines import callers_of
from fullgraph.analysis.user_lines.bound import PASSES_ON
from fullgraph.analysis.user_lines.program_files import find_program_files
from fullgraph.analysis.user_lines.source_file import SourceFile, open_source
from fullgraph.model.events import Call, Code, Compile, Frame, GuardChange, Recompile
from fullgraph.model.owners import YOURS, Owners
from fullgraph.model.report import RecompileGroup
from fullgraph.model.results import CompiledAt
from fullgraph.model.session import Session

# Where torch compiles a module of its own: a function that passes all arguments on.
_WRAPPER = "torch/_dynamo/external_utils.py"


class ProgramContext:
    """The captured program."""

    def __init__(
        self, sessions: Sequence[Session], targets: Iterable[CompiledAt], main_file: str
    ) -> None:
        self._sessions = sessions
        self._targets = tuple(targets)
        self.main_file = main_file
        self._files: dict[str, SourceFile | None] = {}

    @cached_property
    def _recompiles(self) -> dict[str, list[Recompile]]:
        found: dict[str, list[Recompile]] = {}
        for event in self._events():
            if isinstance(event, Recompile):
                found.setdefault(event.compile, []).append(event)
        return found

    @cached_property
    def _calls(self) -> list[Call]:
        return [event for event in self._events() if isinstance(event, Call)]

    @cached_property
    def _owners(self) -> Owners:
        return Owners([session.header for session in self._sessions])

    def _events(self) -> Iterator[object]:
        for session in self._sessions:
            yield from session.events

    def source(self, path: str) -> SourceFile | None:
        """Return a source file; None if it cannot be read or parsed."""
        if path not in self._files:
            self._files[path] = open_source(path, 0.0)
        return self._files[path]

    @cached_property
    def program_files(self) -> list[SourceFile]:
        """All files of the user's program; empty if one of them cannot be read."""
        compiled = [event.code.file for event in self._events() if isinstance(event, Compile)]
        callers = [call.caller.file for call in self._calls if call.caller is not None]
        seen = [path for path in dict.fromkeys([self.main_file, *compiled, *callers]) if path]
        folders = [session.header.directory for session in self._sessions]
        found = find_program_files(seen, folders, self._owners, self.source)
        return found.files if found.complete else []

    def is_yours(self, path: str) -> bool:
        """Return whether a file is the user's own."""
        return self._owners.owner_of(path) == YOURS

    def code_of(self, group: RecompileGroup) -> Code:
        """Return the function whose recompiles a group has."""
        return Code(group.file, group.line, group.function, group.qualified, group.resumed_at)

    def changes(self, group: RecompileGroup) -> list[GuardChange]:
        """Return everything that changed in the recompiles of a group, each once."""
        changes = [
            change
            for event in self._events_of(group)
            for failure in event.failures
            for change in failure.changes
        ]
        return list({(each.source, each.kind, each.dim): each for each in changes}.values())

    def _events_of(self, group: RecompileGroup) -> list[Recompile]:
        events = [event for name in group.compiles for event in self._recompiles.get(name, ())]
        return [
            event
            for event in events
            if event.code.function == group.function and event.code.file == group.file
        ]

    def _is_direct(self, event: Recompile) -> bool:
        """Return whether only torch's own calls are between the user's line and the function.

        A module of torch such as `Sequential` calls the modules in it with other arguments.
        """
        callers = callers_of(event)
        last = max((n for n, each in enumerate(callers) if self.is_yours(each.file)), default=-1)
        return all(PASSES_ON.search(each.file) for each in callers[last + 1 :])

    def call_frames(self, group: RecompileGroup) -> list[Frame]:
        """Return the lines that call the compiled functions that lead to a group."""
        frames = [call.caller for call in self._calls_of(group) if call.caller is not None]
        if not frames and group.called_at is not None:
            frames = [group.called_at]
        return list(dict.fromkeys(frames))

    def first_call(self, group: RecompileGroup) -> Call | None:
        """Return the call that compiled first."""
        return next((call for call in self._calls_of(group) if call.compiles), None)

    def first_compile_is_used(self, group: RecompileGroup) -> bool:
        """Return whether code of the first compile ran in a call after the one that compiled it."""
        calls = self._calls_of(group)
        first = next((set(call.compiles) for call in calls if call.compiles), set())
        later = {each for call in calls for each in set(call.ran) - set(call.compiles)}
        return not first.isdisjoint(later)

    def is_compiled_per_call(self, group: RecompileGroup) -> bool:
        """Return whether no result of `torch.compile` that leads to a group is called twice."""
        calls = Counter[int]()
        for call in self._calls_of(group):
            calls[call.target] += call.count
        return bool(calls) and max(calls.values()) == 1

    def is_called_directly(self, group: RecompileGroup) -> bool:
        """Return whether the user's own line calls the function of a group, which it compiles."""
        if not all(self._is_direct(event) for event in self._events_of(group)):
            return False
        if group.file.replace(os.sep, "/").endswith(_WRAPPER):
            return True
        codes = {(call.code.file, call.code.function) for call in self._calls_of(group)}
        return group.resumed_at is None and codes <= {(group.file, group.function)}

    def _calls_of(self, group: RecompileGroup) -> list[Call]:
        ids = {
            event.id
            for event in self._events()
            if isinstance(event, Compile)
            and (event.code.file, event.code.line, event.code.function)
            == (group.file, group.line, group.function)
        }
        targets = {
            call.target for call in self._calls if not ids.isdisjoint((*call.compiles, *call.ran))
        }
        return [call for call in self._calls if call.target in targets]

    def compile_calls(self, group: RecompileGroup) -> list[tuple[SourceFile, ast.expr]]:
        """Return the calls of `torch.compile` for what leads to a group, or bare decorators.

        Nothing is returned if one of them is not found in the user's source.
        """
        codes = {(call.code.file, call.code.function) for call in self._calls_of(group)}
        codes = codes or {(group.file, group.function)}
        sites = [
            each.site for each in self._targets if (each.code.file, each.code.function) in codes
        ]
        if not self._targets:
            return self._likely_compile_calls(group)
        found: dict[tuple[str, int, int], tuple[SourceFile, ast.expr]] = {}
        for site in sites:
            node = self._compile_call(site)
            if node is None:
                return []
            found[node[0].path, node[1].lineno, node[1].col_offset] = node
        return list(found.values())

    @property
    def compiles_one_function(self) -> bool:
        """Whether the program compiles only one function."""
        codes = [event.code for event in self._events() if isinstance(event, Compile)]
        return len({(code.file, code.line, code.function) for code in codes}) == 1

    def has_fullgraph(self, group: RecompileGroup) -> bool:
        """Return whether a graph break in the function of a group may be an error."""
        keywords = [
            keyword
            for _, call in self.compile_calls(group)
            if isinstance(call, ast.Call)
            for keyword in call.keywords
        ]
        return group.limit_raises or any(
            keyword.arg == "fullgraph" and ast.unparse(keyword.value) != "False"
            for keyword in keywords
        )

    def _likely_compile_calls(self, group: RecompileGroup) -> list[tuple[SourceFile, ast.expr]]:
        """Return the decorator of the function, or the only call of `torch.compile` in its files.

        Only for sessions that do not know where functions are compiled.
        """
        frames = [frame for frame in (group.called_at,) if frame is not None]
        paths = dict.fromkeys([group.file, *(each.file for each in frames), self.main_file])
        files = [self.source(path) for path in paths if path and self.is_yours(path)]
        calls: list[tuple[SourceFile, ast.expr]] = []
        for file in {each.path: each for each in files if each is not None}.values():
            function = file.function_of(self.code_of(group)) if file.path == group.file else None
            for decorator in getattr(function, "decorator_list", []):
                named = decorator.func if isinstance(decorator, ast.Call) else decorator
                if _is_compile(named):
                    return [(file, decorator)]
            calls += [
                (file, node)
                for node in ast.walk(file.tree)
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "torch.compile"
            ]
        return calls if len(calls) == 1 else []

    def _compile_call(self, site: Frame | None) -> tuple[SourceFile, ast.expr] | None:
        file = self.source(site.file) if site is not None and self.is_yours(site.file) else None
        if site is None or file is None or not file.matches(site):
            return None
        call = file.call_at(site)
        if call is not None and _is_compile(call.func):
            return file, call
        decorators = [
            decorator
            for node in ast.walk(file.tree)
            if isinstance(node, ast.FunctionDef | ast.ClassDef)
            for decorator in node.decorator_list
            if decorator.lineno == site.line
        ]
        for decorator in decorators:
            named = decorator.func if isinstance(decorator, ast.Call) else decorator
            if _is_compile(named):
                return file, decorator
        return None


def _is_compile(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return bool(name == "compile")
