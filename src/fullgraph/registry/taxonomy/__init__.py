"""Categories of graph breaks. A category answers one question: what must I change?

Every entry of the registry belongs to exactly one category. A category is one Markdown file in
`categories/`: a few lines of facts, then its page. `rules.py` assigns a category to a break.
`fixability.py` decides whether a user can fix the break and at what cost. See `docs/taxonomy.md`.
"""

from __future__ import annotations

import re
from functools import cache

from fullgraph.errors import RegistryError
from fullgraph.registry.taxonomy.advice import specific_advice
from fullgraph.registry.taxonomy.categories import Category, read_categories
from fullgraph.registry.taxonomy.fixability import Fixability, derive_fixability
from fullgraph.registry.taxonomy.rules import NAMED, OTHERWISE, RULES, STANDS_FOR_MANY, Rule

__all__ = [
    "CATEGORIES",
    "RENAMED",
    "USER_REQUESTED",
    "Category",
    "Fixability",
    "advice_for",
    "category_named",
    "category_of",
    "deciding_rule",
    "fixability_of",
    "is_category",
    "page_of",
    "title_of",
]

USER_REQUESTED = "user-requested"
# Old names of categories. Commands that get one name the new one; the site redirects.
RENAMED = {
    "asked-for": USER_REQUESTED,
    "not-entered": "untraced-calls",
    "effects": "side-effects",
}

CATEGORIES = read_categories()
_BY_NAME = {category.name: category for category in CATEGORIES}


def is_category(name: str) -> bool:
    """Check whether a name is, or was, the name of a category."""
    return name in _BY_NAME or name in RENAMED


def category_named(name: str) -> Category:
    """Return the category with this name; an error for any other name says which one is meant."""
    if name in RENAMED:
        raise RegistryError(f"the category {name} was renamed; use {RENAMED[name]}")
    if name not in _BY_NAME:
        from difflib import get_close_matches

        near = get_close_matches(name, _BY_NAME, n=1)
        hint = f"did you mean {near[0]}?" if near else f"use one of {', '.join(_BY_NAME)}"
        raise RegistryError(f"there is no category {name!r}; {hint}")
    return _BY_NAME[name]


def category_of(type_: str, explanation: str = "") -> str:
    """Return the name of the category that a break belongs to."""
    rule = deciding_rule(type_, explanation)
    return rule.category if rule else OTHERWISE


@cache
def deciding_rule(type_: str, explanation: str = "") -> Rule | None:
    """Return the rule that assigns the category of a break; None if no rule matches."""
    if explanation and re.search(STANDS_FOR_MANY, type_, re.IGNORECASE):
        for rule in NAMED:
            if re.search(rule.pattern, explanation):
                return rule
    for rule in RULES:
        if _compiled(rule.pattern).search(type_):
            return rule
    return None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    # Compiled on first use. The cache of `re` is slower than the search itself.
    return re.compile(pattern, re.IGNORECASE)


def fixability_of(
    id_: str | None, type_: str, hints: tuple[str, ...] = (), explanation: str = ""
) -> Fixability:
    """Return whether a user can fix a break, at what cost, and whether it fails in eager mode."""
    return derive_fixability(id_, _BY_NAME[category_of(type_, explanation)], hints, explanation)


def advice_for(
    category: str, type_: str = "", explanation: str = "", calls: tuple[str, ...] = ()
) -> str:
    """Return the advice for a break; that of its category if nothing more is known.

    `calls` are the names of the functions that the user's code calls.
    """
    return specific_advice(type_, explanation, calls) or _BY_NAME[category].advice


def title_of(category: str) -> str:
    """Return the title of a category, as reports show it."""
    return _BY_NAME[category].title


def page_of(category: str) -> str:
    """Return the page of a category, as Markdown."""
    return _BY_NAME[category].page
