"""What kind of thing a break is, which answers: what must I change?

Every entry of the registry belongs to exactly one category. A category is one Markdown file in
`categories/`: a few lines of facts, then its page. `rules.py` decides which category a break
belongs to, `fixability.py` whether it can be fixed and at what cost; `docs/taxonomy.md` explains
both.
"""

from __future__ import annotations

import re
from functools import cache

from fullgraph.registry.taxonomy.categories import Category, read_categories
from fullgraph.registry.taxonomy.fixability import EntryFacts, derive_facts
from fullgraph.registry.taxonomy.rules import NAMED, OTHERWISE, RULES, STANDS_FOR_MANY, Rule

__all__ = [
    "ASKED_FOR",
    "CATEGORIES",
    "Category",
    "EntryFacts",
    "advice_for",
    "category_of",
    "deciding_rule",
    "facts_of",
    "page_of",
    "title_of",
]

ASKED_FOR = "user-requested"

CATEGORIES = read_categories()
_BY_NAME = {category.name: category for category in CATEGORIES}


def category_of(type_: str, explanation: str = "") -> str:
    """The name of the category that a break belongs to."""
    rule = deciding_rule(type_, explanation)
    return rule.category if rule else OTHERWISE


@cache
def deciding_rule(type_: str, explanation: str = "") -> Rule | None:
    """The rule that decides about a break; None where no rule knows its words."""
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
    # When it is first needed; and `re` takes longer to find it again than it takes to search.
    return re.compile(pattern, re.IGNORECASE)


def facts_of(
    id_: str | None, type_: str, hints: tuple[str, ...] = (), explanation: str = ""
) -> EntryFacts:
    """Whether a user can fix a break, usually at what cost, and whether eager fails as well."""
    return derive_facts(id_, _BY_NAME[category_of(type_, explanation)], hints, explanation)


def advice_for(category: str) -> str:
    return _BY_NAME[category].advice


def title_of(category: str) -> str:
    return _BY_NAME[category].title


def page_of(category: str) -> str:
    """The page of a category, as Markdown."""
    return _BY_NAME[category].page
