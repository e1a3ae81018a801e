"""Find the entries that a torch release can raise, by reading its source code.

A break is raised by a call with `gb_type=`, whatever the function is called in that release. In
torch 2.8 and 2.9, a call of `unimplemented` with a plain message raises one too. The type is
usually a constant. Otherwise, its values are followed through local names, class attributes,
parameters of helpers and conditional expressions within one file.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from itertools import product
from typing import NamedTuple

from fullgraph.registry.entries import CallSite, SourceText, UnmappedCall, Wording
from fullgraph.registry.message_templates import (
    has_placeholders,
    is_unevaluated,
    lacks_text,
    literals,
    readable,
    readable_type,
)

# Functions that pass the type on: a call inside them is not a break of its own.
_PLUMBING = {
    "unimplemented",
    "unimplemented_v2",
    "unimplemented_with_warning",
    "unimplemented_v2_with_warning",
    "format_graph_break_message",
}
_RAISES = re.compile(r"_?unimplemented(_v2)?(_with_warning)?")
# A type with more possible values than this cannot be determined from the source.
_MOST_TYPES = 16
_DEEPEST = 6

Functions = ast.FunctionDef | ast.AsyncFunctionDef
SharedHints = dict[str, tuple[str, ...]]


class Call(NamedTuple):
    """A call that raises a break: its position and the possible values of its arguments."""

    site: CallSite
    types: tuple[str, ...]
    # Source of the type argument; the registry of 2.8 contains the name of a variable.
    written: str
    explanations: tuple[str, ...]
    hints: tuple[str, ...]


def calls_in(source: str, file: str, shared: SharedHints | None = None) -> list[Call]:
    """Return the calls in one file that raise a break, in the order of the file."""
    if "unimplemented" not in source and "gb_type" not in source:
        return []
    reader = _Reader(ast.parse(source), file, shared or {})
    return sorted(reader.calls(), key=lambda call: call.site.line)


def shared_hints(source: str) -> SharedHints:
    """Return the constants of `graph_break_hints.py` by name."""
    return {
        name: tuple(map(str, ast.literal_eval(value)))
        for name, value in _assignments(ast.parse(source).body)
        if isinstance(value, ast.List)
    }


def map_calls(
    calls: Iterable[Call], entries: dict[str, tuple[Wording, ...]]
) -> tuple[dict[str, tuple[CallSite, ...]], tuple[UnmappedCall, ...]]:
    """Return the call sites of each entry, and the calls without an entry."""
    find = _Finder(entries)
    sites: dict[str, list[CallSite]] = {}
    unmapped = []
    for call in calls:
        unknown = []
        for type_ in call.types:
            found = find(type_, call.explanations) or find(call.written, call.explanations)
            if not found:
                unknown.append(readable_type(type_))
            for identifier in found:
                if call.site not in sites.setdefault(identifier, []):
                    sites[identifier].append(call.site)
        if unknown:
            unmapped.append(UnmappedCall(type=" or ".join(unknown), site=call.site))
    return {identifier: tuple(found) for identifier, found in sites.items()}, tuple(unmapped)


def texts_of(
    calls: Iterable[Call],
    sites: dict[str, tuple[CallSite, ...]],
    entries: dict[str, tuple[Wording, ...]],
) -> dict[str, SourceText]:
    """Return text from the source for entries whose registry text is incomplete."""
    by_site: dict[CallSite, list[Call]] = {}
    for call in calls:
        by_site.setdefault(call.site, []).append(call)
    found = {}
    for identifier, places in sites.items():
        if lacks_text(entries[identifier][0]):
            raised = [call for place in places for call in by_site.get(place, [])]
            found[identifier] = SourceText(
                explanations=_distinct(call.explanations for call in raised),
                hints=_distinct(call.hints for call in raised),
            )
    return {identifier: text for identifier, text in found.items() if text != SourceText()}


def _distinct(texts: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Return each text once, without texts that are known only at run time."""
    several = dict.fromkeys(readable(text).strip() for each in texts for text in each)
    return tuple(text for text in several if text and not is_unevaluated(text))


class _Finder:
    """Finds the ids of the entries that a call with this type can raise."""

    def __init__(self, entries: dict[str, tuple[Wording, ...]]) -> None:
        self._entries = entries
        self._current: dict[str, list[str]] = {}
        self._earlier: dict[str, list[str]] = {}
        for identifier, wordings in entries.items():
            self._current.setdefault(readable_type(wordings[0].type), []).append(identifier)
            for wording in wordings[1:]:
                self._earlier.setdefault(readable_type(wording.type), []).append(identifier)
        self._open = [
            (re.compile(".+".join(map(re.escape, literals(type_)))), found)
            for types in (self._current, self._earlier)
            for type_, found in types.items()
            if has_placeholders(type_) and any(literals(type_))
        ]

    def __call__(self, type_: str, explanations: tuple[str, ...]) -> list[str]:
        type_ = readable_type(type_)
        found = self._current.get(type_) or self._earlier.get(type_) or []
        if not found:
            found = next((ids for pattern, ids in self._open if pattern.fullmatch(type_)), [])
        if len(found) < 2:
            return found
        shown = {readable(explanation) for explanation in explanations}
        exact = [
            identifier
            for identifier in found
            if readable(self._entries[identifier][0].explanation) in shown
        ]
        return exact or found


class _Reader:
    """The syntax tree of one file; follows names to their possible values."""

    def __init__(self, tree: ast.Module, file: str, shared: SharedHints) -> None:
        self._file = file
        self._shared = shared
        self._parents: dict[ast.AST, ast.AST] = {}
        self._calls_by_name: dict[str, list[ast.Call]] = {}
        self._class_values: dict[str, list[ast.expr]] = {}
        nodes: list[ast.AST] = [tree]
        for node in nodes:  # The list grows in the loop: every node is visited once, parents first.
            for child in ast.iter_child_nodes(node):
                self._parents[child] = node
                nodes.append(child)
            if isinstance(node, ast.Call):
                self._calls_by_name.setdefault(_called(node), []).append(node)
            elif isinstance(node, ast.ClassDef):
                for name, value in _assignments(node.body):
                    self._class_values.setdefault(name, []).append(value)

    def calls(self) -> Iterator[Call]:
        """Yield the calls that raise a break."""
        for name, calls in self._calls_by_name.items():
            for call in calls:
                type_ = _type_argument(call, name)
                if type_ is not None and not self._is_plumbing(call):
                    yield self._call(call, type_)

    def _call(self, call: ast.Call, type_: ast.expr) -> Call:
        explanation, hints = _keyword(call, "explanation"), _keyword(call, "hints")
        functions = [node.name for node in self._scopes(call) if not isinstance(node, ast.Module)]
        return Call(
            CallSite(self._file, call.lineno, ".".join(reversed(functions)) or "<module>"),
            tuple(dict.fromkeys(self._values(type_, call))),
            ast.unparse(type_),
            tuple(dict.fromkeys(self._values(explanation, call))) if explanation else (),
            tuple(dict.fromkeys(self._hints(hints, call, 0))) if hints else (),
        )

    def _is_plumbing(self, call: ast.Call) -> bool:
        function = next((node for node in self._scopes(call) if isinstance(node, Functions)), None)
        return function is not None and function.name in _PLUMBING

    def _scopes(self, node: ast.AST) -> Iterator[Functions | ast.ClassDef | ast.Module]:
        """Yield the functions and classes around a node, innermost first, then the module."""
        current: ast.AST | None = self._parents.get(node)
        while current is not None:
            if isinstance(current, Functions | ast.ClassDef | ast.Module):
                yield current
            current = self._parents.get(current)

    # Possible values of an expression

    def _values(self, node: ast.expr, at: ast.AST, depth: int = 0) -> list[str]:
        values = self._followed(node, at, depth) if depth < _DEEPEST else []
        if values and len(values) <= _MOST_TYPES:
            return values
        return [f"{{{ast.unparse(node)}}}"]

    def _followed(self, node: ast.expr, at: ast.AST, depth: int) -> list[str]:
        if isinstance(node, ast.Constant):
            return [str(node.value)]
        if isinstance(node, ast.JoinedStr):
            return self._product(node.values, at, depth)
        if isinstance(node, ast.FormattedValue):
            return self._values(node.value, at, depth + 1)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self._product([node.left, node.right], at, depth)
        if isinstance(node, ast.IfExp):
            return [value for side in (node.body, node.orelse) for value in self._values(side, at)]
        if isinstance(node, ast.Name):
            return list(dict.fromkeys(self._all(self._assigned(node.id, at), at, depth)))
        if isinstance(node, ast.Attribute) and _is_self(node.value):
            return self._all(self._class_values.get(node.attr, []), node, depth)
        return []

    def _hints(self, node: ast.expr, at: ast.AST, depth: int) -> list[str]:
        """Return the hints that a list can contain; shared constants contribute their hints."""
        if isinstance(node, ast.List | ast.Tuple):
            return [hint for each in node.elts for hint in self._hints(each, at, depth + 1)]
        if isinstance(node, ast.Starred):
            return self._hints(node.value, at, depth)
        name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
        if name in self._shared:
            return list(self._shared[name])
        if isinstance(node, ast.BinOp) and isinstance(node.left, ast.List | ast.Name):
            return [
                hint for side in (node.left, node.right) for hint in self._hints(side, at, depth)
            ]
        if isinstance(node, ast.IfExp):
            sides = (node.body, node.orelse)
            return [hint for side in sides for hint in self._hints(side, at, depth + 1)]
        if isinstance(node, ast.Name) and depth < _DEEPEST:
            parts = [*self._assigned(node.id, at), *self._appended(node.id, at)]
            return [hint for each in parts for hint in self._hints(each, at, depth + 1)]
        return self._values(node, at, depth)

    def _product(self, parts: list[ast.expr], at: ast.AST, depth: int) -> list[str]:
        choices = [self._values(part, at, depth + 1) for part in parts]
        return ["".join(choice) for choice in product(*choices)]

    def _all(self, nodes: list[ast.expr], at: ast.AST, depth: int) -> list[str]:
        # The names in an argument belong to the scope of the caller.
        return [
            value
            for node in nodes
            for value in self._values(node, node if node in self._parents else at, depth + 1)
        ]

    def _assigned(self, name: str, at: ast.AST) -> list[ast.expr]:
        """Return the expressions assigned to a name, or passed for a parameter."""
        for scope in self._scopes(at):
            # An assignment in an inner function is about another variable.
            body = scope.body if isinstance(scope, ast.Module | ast.ClassDef) else _own(scope)
            assigned = [value for target, value in _assignments(body) if target == name]
            if isinstance(scope, Functions) and name in _parameters(scope):
                return assigned + self._passed(scope, name)
            if assigned:
                return assigned
        return []

    def _appended(self, name: str, at: ast.AST) -> list[ast.expr]:
        """Return the expressions that the function adds with `append`, `extend` or `+=`."""
        function = next((node for node in self._scopes(at) if isinstance(node, Functions)), None)
        added = []
        for statement in _own(function) if function else ():
            if isinstance(statement, ast.AugAssign) and _is_name(statement.target, name):
                added.append(statement.value)
            call = statement.value if isinstance(statement, ast.Expr) else None
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and call.func.attr in ("append", "extend")
                and _is_name(call.func.value, name)
            ):
                added += call.args
        return sorted(added, key=lambda node: node.lineno)

    def _passed(self, function: Functions, name: str) -> list[ast.expr]:
        """Return the arguments that calls in this file pass for the parameter."""
        position = _parameters(function).index(name)
        values = []
        for call in self._calls_by_name.get(function.name, []):
            passed = _keyword(call, name)
            if passed is None and position < len(call.args):
                passed = call.args[position]
            if passed is not None:
                values.append(passed)
        return values


def _type_argument(call: ast.Call, name: str) -> ast.expr | None:
    type_ = _keyword(call, "gb_type")
    if type_ is None and _RAISES.fullmatch(name) and call.args:
        # In unimplemented_with_warning(e, code, ...), the message is the last argument.
        type_ = call.args[-1] if name.endswith("_with_warning") else call.args[0]
    return type_


def _called(call: ast.Call) -> str:
    if isinstance(call.func, ast.Name):
        return call.func.id
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _keyword(call: ast.Call, name: str) -> ast.expr | None:
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _parameters(function: Functions) -> list[str]:
    arguments = function.args
    return [each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def _own(function: Functions) -> Iterator[ast.stmt]:
    """Yield the statements of a function, without those of inner functions."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, Functions | ast.ClassDef):
            continue
        if isinstance(node, ast.stmt):
            yield node
        waiting += [
            child
            for child in ast.iter_child_nodes(node)
            if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case)
        ]


def _assignments(body: Iterable[ast.stmt]) -> Iterator[tuple[str, ast.expr]]:
    for statement in body:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                if isinstance(target, ast.Name):
                    yield target.id, statement.value
        elif (
            isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and statement.value is not None
        ):
            yield statement.target.id, statement.value


def _is_self(node: ast.expr) -> bool:
    return _is_name(node, "self") or _is_name(node, "cls")


def _is_name(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
