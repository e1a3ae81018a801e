"""Turn the texts of the registry into readable text with named placeholders.

The registry copies arguments from torch's source. An f-string keeps its `{fn}`, a variable or a
call stays source (`msg`, `str(e)`), and a string written over several lines can be several hints.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from fullgraph.registry.entries import Wording

# Placeholders are enclosed in characters that no torch message uses.
OPEN, CLOSE = "‹", "›"
_PLACEHOLDER = re.compile(f"{OPEN}[^{CLOSE}]*{CLOSE}")
# A single expression: a name, an attribute, a call with arguments, a sum.
_BARE = (
    r"[A-Za-z_][\w.]*(?:\((?=[^)])[^{}`]*\))?"
    r"|[A-Za-z_\"'(][^`]*[\w)\"'] *\+ *[^`]*[\w)\"']"
    r"|f?[\"'].*[\"'] *\+.*"
)


@cache
def readable(text: str) -> str:
    """Return the text with placeholders such as ‹error› for parts known only at run time."""
    bare = _bare_expression(text)
    return bare if bare is not None else _fill(text)


@cache
def readable_type(text: str) -> str:
    """Return a type with placeholders. A type is a name, even if it looks like source."""
    if text.startswith("_") and text.isidentifier():
        return f"{OPEN}{text.strip('_')}{CLOSE}"
    return _fill(text)


def literals(text: str) -> list[str]:
    """Return the parts of a readable text between its placeholders."""
    return _PLACEHOLDER.split(text)


def has_placeholders(text: str) -> bool:
    """Check whether a readable text has placeholders."""
    return OPEN in text


def is_unevaluated(text: str) -> bool:
    """Check whether a text consists of source only, without a word for a reader."""
    return bool(text) and not any(part.strip() for part in literals(readable(text)))


def is_unevaluated_type(type_: str) -> bool:
    """Check whether a readable type consists of placeholders only."""
    return not any(part.strip() for part in literals(type_))


def lacks_text(wording: Wording) -> bool:
    """Check whether an explanation is only a variable, or hints are missing."""
    return is_unevaluated(wording.explanation) or not wording.hints


def joined_hints(hints: Iterable[str]) -> tuple[str, ...]:
    """Return hints as sentences; a string written over several lines becomes one hint again."""
    joined: list[str] = []
    for hint in hints:
        if joined and _continues(joined[-1], hint):
            joined[-1] += hint
        else:
            joined.append(hint)
    return tuple(readable(hint).strip() for hint in joined if hint.strip())


def _continues(before: str, hint: str) -> bool:
    if hint[:1].isspace():
        return True
    if not before[-1:].isspace():
        return False
    # Some complete hints end with a space; the next hint then starts a new sentence.
    return not before.rstrip().endswith(".") or not hint[:1].isupper()


def _fill(text: str) -> str:
    """Replace each `{expression}` by a placeholder; other braces stay."""
    parts = []
    position = 0
    while (start := text.find("{", position)) >= 0:
        end = _closing_brace(text, start)
        name = _name_of(text[start + 1 : end]) if end > 0 else ""
        if not name:
            parts.append(text[position : start + 1])
            position = start + 1
            continue
        parts += [text[position:start], OPEN, name, CLOSE]
        position = end + 1
    return "".join([*parts, text[position:]])


def _closing_brace(text: str, start: int) -> int:
    depth = 0
    for index in range(start, len(text)):
        if text[index] == "{":
            depth += 1
        elif text[index] == "}":
            depth -= 1
            if depth == 0:
                return index
    return -1


def _bare_expression(text: str) -> str | None:
    # Most texts are sentences, and compiling the pattern is slow.
    is_sentence = " " in text and "+" not in text and "(" not in text.split(" ", 1)[0]
    if is_sentence or not re.fullmatch(_BARE, text.strip(), re.DOTALL):
        return None
    import ast

    try:
        tree = ast.parse(" ".join(text.split()), mode="eval").body
    except SyntaxError:
        return None
    if isinstance(tree, ast.Name | ast.Attribute | ast.Call | ast.BinOp):
        return _text_of(tree)
    return None


def _text_of(tree: object) -> str:
    """Return the text that an expression makes, with placeholders for its variables."""
    import ast

    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Add):
        return _text_of(tree.left) + _text_of(tree.right)
    if isinstance(tree, ast.UnaryOp):  # `a + + b`: the registry lost a line break
        return " " + _text_of(tree.operand)
    if isinstance(tree, ast.Constant) and isinstance(tree.value, str):
        return _fill(tree.value)
    if isinstance(tree, ast.JoinedStr):
        return "".join(_text_of(part) for part in tree.values)
    if isinstance(tree, ast.FormattedValue):
        return f"{OPEN}{_name(tree.value)}{CLOSE}"
    return f"{OPEN}{_name(tree)}{CLOSE}"


@cache
def _name_of(source: str) -> str:
    """Return a name for the expression between two braces; empty if it is none."""
    if source.isidentifier():
        return _plain(source)
    import ast

    # Remove a conversion or a format specification.
    for candidate in (source, re.sub(r"(![rsa])?(:[^:]*)?$", "", source), source.rstrip("=")):
        try:
            tree = ast.parse(candidate.strip(), mode="eval").body
        except (SyntaxError, ValueError):
            continue
        return "" if isinstance(tree, ast.Dict | ast.Tuple | ast.Constant) else _name(tree)
    return ""


_WORDS = {
    "e": "error",
    "exc": "error",
    "err": "error",
    "msg": "message",
    "self": "object",
    "fn": "fn",
    "k": "key",
    "v": "value",
    "vt": "value",
}
_TYPES = {"type", "typestr", "python_type", "python_type_name"}
_PASS_THROUGH = {
    "str", "repr", "list", "tuple", "set", "sorted", "join", "keys", "values", "items",
    "debug_repr", "as_python_constant", "get_function", "realize", "hex", "format",
}  # fmt: skip


def _plain(identifier: str) -> str:
    name = _WORDS.get(identifier, identifier).strip("_")
    return name.removesuffix("_vt").removesuffix("_var").removesuffix("_str") or "value"


def _name(tree: object) -> str:
    """Return a few words for an expression, such as "type of value"."""
    import ast

    if isinstance(tree, ast.Name):
        return _plain(tree.id)
    if isinstance(tree, ast.Attribute):
        hidden = tree.attr.startswith("__") or tree.attr in ("co_name", "_error_prefix")
        return _name(tree.value) if hidden else _plain(tree.attr)
    if isinstance(tree, ast.Call):
        return _call_name(tree)
    if isinstance(tree, ast.Subscript | ast.Starred | ast.FormattedValue):
        return _name(tree.value)
    if isinstance(tree, ast.ListComp | ast.GeneratorExp | ast.SetComp):
        return _name(tree.generators[0].iter)
    if isinstance(tree, ast.BinOp | ast.BoolOp | ast.IfExp | ast.Compare | ast.UnaryOp):
        parts = [child for child in ast.iter_child_nodes(tree) if isinstance(child, ast.expr)]
        names = [_name(part) for part in parts if not isinstance(part, ast.Constant | ast.Set)]
        return names[0] if names else "value"
    return "value"


def _call_name(call: object) -> str:
    import ast

    assert isinstance(call, ast.Call)
    method = isinstance(call.func, ast.Attribute)
    name = call.func.attr if isinstance(call.func, ast.Attribute) else _name(call.func)
    subjects: list[ast.expr] = list(call.args)
    if isinstance(call.func, ast.Attribute) and name != "join":
        subjects.insert(0, call.func.value)
    subject = _name(subjects[0]) if subjects else ""
    if name in _TYPES:
        return "type" if subject in ("", "object") else f"type of {subject}"
    if name == "len":
        return f"number of {subject}"
    if name == "getattr" and not method:
        return _name(subjects[1]) if len(subjects) > 1 else subject
    if name in _PASS_THROUGH and subject:
        return subject
    words = re.sub(r"^_*(get|make|format|is|to)_", "", name).strip("_")
    return words.replace("_", " ") or "value"
