"""The snippet: whether Python compiles it. It is not run."""

from __future__ import annotations

import ast
import textwrap
import warnings
from collections.abc import Iterator

from fullgraph.ai.answer import Answer
from fullgraph.ai.checks import Check, CheckContext

ORDER = 50


def check(answer: Answer, context: CheckContext) -> Iterator[Check]:
    """Yield a check of the snippet, if there is one."""
    if not answer.snippet.strip():
        return
    problem = _problem(answer.snippet)
    claim = answer.snippet.strip().split("\n")[0]
    yield Check("snippet", claim, not problem, problem or "Python compiles it")


def _problem(snippet: str) -> str:
    """Return why Python does not compile a snippet; empty if it does.

    A snippet is a part of a function, so it may return, await or continue a loop.
    """
    text = textwrap.dedent(snippet).strip("\n")
    inside = textwrap.indent(text, "        ")
    first = ""
    for each in (text, f"async def f():\n    while True:\n{inside}\n"):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                compile(ast.parse(each), "snippet", "exec", dont_inherit=True)
        except SyntaxError as error:
            first = first or f"Python does not compile it: {error.msg} (line {error.lineno})"
        except (ValueError, RecursionError, MemoryError) as error:
            return f"Python does not compile it: {error}"
        else:
            return ""
    return first
