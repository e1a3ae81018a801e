"""`BreakContext`: a graph break and the parsed source around it, which is what a fixer works on."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

from msgspec.structs import replace

from fullgraph.fix.source.edits import Edit, EditedText, FileEdits
from fullgraph.fix.source.locate import (
    byte_column,
    covers,
    function_at,
    nodes_at,
    statements_at,
)
from fullgraph.fix.source.module_level import insert_at_top, missing_imports
from fullgraph.fix.source.module_symbols import ModuleSymbols
from fullgraph.fix.source.names import fresh_name, imports_of, qualified_name
from fullgraph.fix.source.text import Node, last_line, parse, source_line, source_of
from fullgraph.model.owners import this_process
from fullgraph.model.report import RootCause


class SourceFile:
    """One file of the program: its original text, and its text with the accepted edits."""

    def __init__(self, path: str, original: str, edits: Iterable[Edit] = ()) -> None:
        self.path = path
        self.edited = EditedText(original, edits)
        self.text = self.edited.text

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree; an empty one if Python does not accept the text."""
        return parse(self.text) or ast.Module([], [])

    @cached_property
    def imports(self) -> dict[str, str]:
        """From each imported name to the full name of what it stands for."""
        return imports_of(self.tree)

    @cached_property
    def symbols(self) -> ModuleSymbols:
        """The functions, classes and constants that the file defines."""
        return ModuleSymbols(self.tree)


# From a path to the file as the accepted fixes have made it; None if it cannot be read.
OpenFile = Callable[[str], SourceFile | None]


class BreakContext:
    """A graph break, the file it is in and the nodes around it.

    A break in code without a readable file has an empty tree and no function, so that a fixer
    which looks for a pattern finds none.
    """

    def __init__(self, cause: RootCause, open_file: OpenFile) -> None:
        self.cause = cause
        self._open_file = open_file
        file = open_file(cause.file)
        self.has_source = file is not None
        self.file = file or SourceFile(cause.file, "")

    # The file.

    @property
    def text(self) -> str:
        """The text of the file, with the accepted fixes."""
        return self.file.text

    @property
    def tree(self) -> ast.Module:
        """The syntax tree of the file."""
        return self.file.tree

    @property
    def imports(self) -> dict[str, str]:
        """From each imported name to the full name of what it stands for."""
        return self.file.imports

    @property
    def symbols(self) -> ModuleSymbols:
        """The functions, classes and constants of the file."""
        return self.file.symbols

    @property
    def line(self) -> str:
        """The line of the break, without its end."""
        return source_line(self.text, self.cause.line)

    def source(self, node: Node) -> str:
        """Return a node as it is written."""
        return source_of(self.text, node)

    def name(self, node: ast.AST) -> str:
        """Return the full name of a chain of names; empty for any other node."""
        return qualified_name(node, self.imports)

    def fresh_name(self, wanted: str, scope: ast.AST | None = None) -> str:
        """Return a name that is not used in a node; in the whole file without one."""
        return fresh_name(wanted, scope or self.tree)

    def is_inserted(self, function: ast.FunctionDef) -> bool:
        """Return whether an accepted fix has inserted a function, which the original lacks."""
        original = parse(self.file.edited.original)
        nodes = ast.walk(original) if original else ()
        if any(isinstance(each, ast.FunctionDef) and each.name == function.name for each in nodes):
            return False
        return self.file.edited.is_written_by_edits(function.lineno, last_line(function))

    # The nodes around the break.

    @cached_property
    def function(self) -> ast.FunctionDef | None:
        """The innermost function around the break; None at module level and in a coroutine."""
        return function_at(self.tree, self.cause.line)

    @cached_property
    def statements(self) -> list[ast.stmt]:
        """The statements around the break, the innermost first."""
        found = statements_at(self.tree, self.cause.line)
        if self.cause.column is None:
            return found
        # Several statements may be on one line.
        column = byte_column(self.text, self.cause.line, self.cause.column)
        return [each for each in found if covers(each, self.cause.line, column)] or found

    @cached_property
    def expressions(self) -> list[ast.expr]:
        """The expressions around the break, the innermost first."""
        return nodes_at(self.tree, self.cause.line, self.cause.column, self.text)

    @cached_property
    def calls(self) -> list[ast.Call]:
        """The calls around the break, the innermost first."""
        return [node for node in self.expressions if isinstance(node, ast.Call)]

    def in_user_code(self) -> BreakContext | None:
        """Return the break as one of the nearest frame that can be rewritten.

        It is this context, unless the break is in torch or in Python's own library; None if no
        frame of the stack can be rewritten.
        """
        owners = this_process()
        if not owners.is_torch_or_stdlib(self.cause.file):
            return self
        frames = [each for each in self.cause.stack if not owners.is_torch_or_stdlib(each.file)]
        if not frames or self._open_file(frames[-1].file) is None:
            return None
        nearest = frames[-1]
        cause = replace(
            self.cause,
            file=nearest.file,
            line=nearest.line,
            column=nearest.column,
            function=nearest.function,
            end_line=nearest.end_line,
            end_column=nearest.end_column,
        )
        return BreakContext(cause, self._open_file)

    # The result.

    def file_edits(
        self,
        edits: Iterable[Edit],
        *,
        imports: Sequence[str] = (),
        definitions: Sequence[str] = (),
        module_additions: Sequence[str] = (),
    ) -> FileEdits:
        """Return edits of this file's text as edits of the original file.

        `imports` are added where the original lacks them, and `definitions` below them.
        `module_additions` are statements that a process which has loaded the file runs besides.
        """
        rebased, replaces = self.file.edited.rebase(edits)
        original = self.file.edited.original
        missing = missing_imports(original, imports)
        return FileEdits(
            path=self.file.path,
            edits=(*rebased, *insert_at_top(original, missing, definitions)),
            module_additions=(*missing, *definitions, *module_additions),
            replaces=replaces,
        )
