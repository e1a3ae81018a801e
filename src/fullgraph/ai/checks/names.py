"""Names of functions and classes: whether this torch, Python or the file has them."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator

from fullgraph.ai.answer import Answer
from fullgraph.ai.checks import Check, CheckContext, prose
from fullgraph.python_source import read_source

ORDER = 20

_IN_TEXT = re.compile(r"(?<![\w./])torch(?:\.[A-Za-z_]\w*)+")
_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")


def check(answer: Answer, context: CheckContext) -> Iterator[Check]:
    """Yield a check for each name that the answer uses."""
    claimed = [each.strip("`").split("(")[0].strip() for each in answer.names]
    texts = f"{prose(answer)}\n{answer.snippet}"
    found = [each for each in _IN_TEXT.findall(texts) if ".config." not in f"{each}."]
    names = [name for name in dict.fromkeys([*claimed, *found]) if name and name != "torch"]
    context.torch.learn(_in_torch(name) for name in names if _NAME.fullmatch(name))
    for name in names:
        # Settings have checks of their own.
        if not context.torch.is_setting_name(name):
            yield _check_name(name, context)


def _in_torch(name: str) -> str:
    """Return the full name of something of torch; empty for other names."""
    if name.startswith("torch."):
        return name
    start, _, rest = name.partition(".")
    return f"torch.Tensor.{rest}" if start in ("Tensor", "tensor") and rest else ""


def _check_name(name: str, context: CheckContext) -> Check:
    if _NAME.fullmatch(name) is None:
        return Check("name", name, None, "this is no name")
    if torch := _in_torch(name):
        return _answer(name, context.torch.has(torch), context.torch.release)
    if name in dir(builtins) or _is_in_file(name, context):
        where = "Python" if name in dir(builtins) else "the file"
        return Check("name", name, True, f"{where} has it")
    found = context.torch.in_python(name)
    if found is None:
        return Check("name", name, None, "neither torch, Python nor the file defines it")
    return _answer(name, found, f"the module {name.partition('.')[0]}")


def _answer(name: str, found: bool | None, where: str) -> Check:
    if found is None:
        return Check("name", name, None, f"it cannot be looked up in {where} without running it")
    return Check("name", name, found, f"{where} has {'it' if found else 'no such name'}")


def _is_in_file(name: str, context: CheckContext) -> bool:
    text = read_source(context.subject.file) if context.subject.file else None
    pieces = [piece for piece in name.split(".") if piece != "self"]
    return bool(text) and all(re.search(rf"\b{piece}\b", text or "") for piece in pieces)
