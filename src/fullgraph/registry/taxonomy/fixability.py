"""Decide whether a user can fix a break, and at what cost.

A category's file gives the usual answer. The hints that entries share are more specific. The
tables below list the ids of entries for which both are wrong.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from fullgraph.registry.taxonomy.categories import Category
from fullgraph.registry.taxonomy.rules import NO_FAKE


class Fixability(NamedTuple):
    """Whether a user can fix a break, at what cost, and whether it fails in eager mode too."""

    fixable: str  # yes, sometimes or no
    cost: str  # one line, local rewrite, restructure or not by you
    eager_fails: bool


ONE_LINE = ("yes", "one line")
LOCAL = ("yes", "local rewrite")
MAYBE_LOCAL = ("sometimes", "local rewrite")
RESTRUCTURE = ("sometimes", "restructure")
NOT_BY_YOU = ("no", "not by you")

USER_ERROR = r"error when running in eager"
_BUG = r"likely to be a Dynamo bug"
# A config option or environment variable. Options for loggers help only loggers.
_SETTING = r"_dynamo\.config\.(?!reorder)|_dynamo\.trace_autograd_ops|TORCHDYNAMO_\w+=1"

# (fixable, cost) of entries for which category and hints are wrong.
FIXES = {
    # One argument, call or word is enough.
    "GB0040": ONE_LINE,  # return a clone
    "GB0110": ONE_LINE,  # pass it by position
    "GB0134": ONE_LINE,  # groupby's key as a keyword
    "GB0171": ONE_LINE,  # a string as the message
    "GB0221": ONE_LINE,  # drop the decorator, or yield
    "GB0230": ONE_LINE,
    "GB0233": ONE_LINE,  # layout=torch.jagged
    "GB0246": ONE_LINE,  # num_classes=
    "GB0280": ONE_LINE,  # super(C, self)
    "GB0371": ONE_LINE,  # detach the returned tensor
    "GB1381": ONE_LINE,  # retain_graph=True
    "GB4927": ONE_LINE,
    # The option in the hint does not help, or not every user.
    "GB0039": RESTRUCTURE,
    "GB0067": MAYBE_LOCAL,
    "GB0102": RESTRUCTURE,
    # Caused by another break where Dynamo cannot resume: fix the other one.
    "GB0065": MAYBE_LOCAL,
    "GB7000": MAYBE_LOCAL,
    # Written for Dynamo's own tests, or needs another build of torch.
    "GB0037": NOT_BY_YOU,
    "GB0200": NOT_BY_YOU,
    "GB0210": NOT_BY_YOU,
}

# The hint says that eager mode fails too, but the program works there.
RUNS_IN_EAGER = frozenset({
    "GB0020", "GB0021",  # f-strings with a key named like a parameter
    "GB0054",  # an Enum looked up by a value that is not constant
    "GB0132", "GB0160", "GB0186", "GB0195", "GB4393",
    "GB0184",  # every object has a str() in eager mode
    "GB0235", "GB0237",  # a Parameter from a tensor whose shape is symbolic
    "GB0259", "GB0300", "GB0371",
    "GB0871",  # a hash made of symbolic sizes
    "GB2549",  # a long generator looks infinite to the tracer
})  # fmt: skip

# Eager mode raises too, although no hint says so.
FAILS_IN_EAGER = frozenset({
    "GB0049",  # no overload takes these arguments
    "GB0210",
    "GB0221",  # a context manager that never yields
    "GB0442", "GB1381",
    "GB7685",
})  # fmt: skip


def derive_fixability(
    id_: str | None, category: Category, hints: tuple[str, ...], explanation: str
) -> Fixability:
    """Return how a break can be fixed. `id_` is None for a break without a registry entry."""
    text = "\n".join(hints)
    fails = _eager_fails(id_, category, text) and not re.search(NO_FAKE, explanation)
    return Fixability(*_fix(id_, category, text), eager_fails=fails)


def _fix(id_: str | None, category: Category, hints: str) -> tuple[str, str]:
    if id_ in FIXES:
        return FIXES[id_]
    # An error in the program or a requested break is the user's, whatever the hint says.
    users_own = category.name in ("eager-errors", "user-requested")
    if re.search(_BUG, hints) and not users_own:
        return NOT_BY_YOU
    if re.search(_SETTING, hints):
        return ONE_LINE
    if re.search(USER_ERROR, hints):
        return LOCAL
    return category.fixable, category.cost


def _eager_fails(id_: str | None, category: Category, hints: str) -> bool:
    if id_ in RUNS_IN_EAGER:
        return False
    if id_ in FAILS_IN_EAGER or category.name == "eager-errors":
        return True
    return re.search(USER_ERROR, hints) is not None
