"""What a change must not touch: nothing of it runs if it does.

These are files outside of the project, tests, settings, the part of the script that calls the
model, `torch.compile` itself, and whatever could reach the code that verifies. Imports no torch.
"""

from __future__ import annotations

import ast
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from fullgraph.fix.apply.project import Project, package_of
from fullgraph.fix.source.text import parse
from fullgraph.fix.verify.change import FileChange
from fullgraph.fix.verify.names import Use, added_uses, removed_uses
from fullgraph.fix.verify.report import Refused
from fullgraph.model.owners import this_process

_TEST_FILE = re.compile(r"test_.*\.py|.*_test\.py|conftest\.py")
_TEST_FOLDERS = ("test", "tests", "testing")
_DOCUMENTATION = (".md", ".rst")
# They import, define or name something; everything else in a script is its driver.
_Definition = ast.Import | ast.ImportFrom | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
# What could reach the frames, the modules or the functions that verify.
_REACHING = re.compile(
    r"fullgraph(\..*)?|gc(\..*)?|inspect(\..*)?|ctypes(\..*)?|importlib(\..*)?|builtins(\..*)?|"
    r"sys\.(modules|_getframe|_current_frames|settrace|setprofile|meta_path|path_hooks|monitoring)|"
    r"(.*\.)?sys\.modules|__import__|globals|vars|eval|exec|compile|"
    r"(.*\.)?(f_back|f_locals|f_globals|tb_frame|gi_frame|cr_frame|ag_frame|__builtins__|__globals__|"
    r"__code__|__closure__|__subclasses__|__loader__|__spec__)"
)


def is_ignored(change: FileChange) -> bool:
    """Return whether a file is documentation, which no program runs."""
    return change.path.endswith(_DOCUMENTATION)


def refusals(changes: Iterable[FileChange], main_file: str) -> tuple[Refused, ...]:
    """Return the lines of a change that are not verified, and why."""
    project = Project(main_file)
    found = [each for change in changes for each in _of_file(change, project, main_file)]
    return tuple(dict.fromkeys(found))


def _of_file(change: FileChange, project: Project, main_file: str) -> Iterator[Refused]:
    shown = this_process().display_path(change.path)
    why = _why_not_this_file(change, project)
    if why:
        yield Refused(shown, change.line, why)
        return
    before, after = change.before or "", change.after or ""
    try:
        compile(after, change.path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or change.line
        yield Refused(shown, line, f"the changed file is not valid Python: {error.args[0]}")
        return
    old, new = parse(before), parse(after)
    if old is None or new is None:
        yield Refused(shown, change.line, "Python does not accept the file as it was")
        return
    if os.path.realpath(main_file) == change.path:
        for line in _driver_lines(old, new):
            yield Refused(
                shown, line,
                "it is in the part of the script that makes the inputs and calls the model",
            )  # fmt: skip
    for check in (_reaching, _replacing, _not_compiling):
        for line, why in check(old, new):
            yield Refused(shown, line, why)


def _why_not_this_file(change: FileChange, project: Project) -> str:
    path = Path(change.path)
    if not project.owns(change.path):
        owner = package_of(change.path) if path.suffix == ".py" else ""
        is_library = this_process().owner_of(change.path) != "yours"
        return f"{owner} is a library" if owner and is_library else "it is outside of the project"
    inside = [
        Path(os.path.relpath(path, each)) for each in project.folders if path.is_relative_to(each)
    ]
    below = min(inside, key=lambda each: len(each.parts), default=path)
    if _TEST_FILE.fullmatch(path.name) or set(below.parts[:-1]) & set(_TEST_FOLDERS):
        return "it is a test"
    if change.special:
        return f"the file {change.special}"
    if path.suffix != ".py":
        return "it is not Python source, so nothing says what it changes"
    if change.before is None:
        return "it is a new file; put new code into a file that the program has"
    return "the file is deleted" if change.after is None else ""


def _driver_lines(old: ast.Module, new: ast.Module) -> Iterator[int]:
    """Yield the lines of statements outside of functions that differ and do more than name things.

    Of statements that are only in the old text, the line is that of the old text.
    """
    known, kept = _dumps(old), _dumps(new)
    for tree, others in ((new, known), (old, kept)):
        left = Counter(others)
        for statement in tree.body:
            dumped = ast.dump(statement)
            if left[dumped]:
                left[dumped] -= 1
            elif not _only_names(statement):
                yield statement.lineno


def _dumps(tree: ast.Module) -> Counter[str]:
    return Counter(map(ast.dump, tree.body))


def _only_names(statement: ast.stmt) -> bool:
    match statement:
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            return not any(isinstance(each, ast.Call | ast.Await) for each in ast.walk(value))
        case ast.Expr(value=ast.Constant()) | ast.AnnAssign() | ast.Pass():
            return True
    return isinstance(statement, _Definition)


_Found = Iterator[tuple[int, str]]


def _reaching(old: ast.Module, new: ast.Module) -> _Found:
    for use in added_uses(old, new):
        if _REACHING.fullmatch(use.name):
            yield use.line, f"`{use.name}` could reach the code that verifies"


def _replacing(old: ast.Module, new: ast.Module) -> _Found:
    """Yield assignments to attributes of modules, such as `torch.equal`."""
    known = {use.name for use in added_uses(ast.Module([], []), old)}
    for use in added_uses(old, new):
        is_attribute = use.is_stored and "." in use.name and use.is_imported
        if is_attribute and use.name not in known:
            yield use.line, f"it replaces `{use.name}` for the whole process"


def _not_compiling(old: ast.Module, new: ast.Module) -> _Found:
    def compiles(use: Use) -> bool:
        is_method = use.is_called and not use.is_imported and use.name.endswith(".compile")
        return use.name == "torch.compile" or is_method

    lost = [use for use in removed_uses(old, new) if compiles(use)]
    if lost and not any(map(compiles, added_uses(old, new))):
        yield lost[0].line, "it removes torch.compile, so nothing is left to verify"
