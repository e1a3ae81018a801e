"""What the pages are made of. No torch, no I/O, nothing that is HTML already but `Info.html`."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from fullgraph.catalog.parse import Example
from fullgraph.registry.pages import Page, Row

# live: some call of the chosen release raises it. retired: none does. unreleased: no release that
# is known has it yet. vanished: it was in a release and is not in the registry any more.
# later: it came with a release after the chosen one.
# unknown: the source came without torch's code, and no release tells.
Status = Literal["live", "retired", "unreleased", "vanished", "later", "unknown"]
# absent: the release does not have the entry.
Mark = Literal["absent", "live", "retired"]


class Settings(Struct, frozen=True):
    """What the owner of a site decides."""

    title: str = "Graph breaks"
    # Where the site will be, for feeds and the sitemap; relative links everywhere else.
    address: str = ""
    # `owner/name` on GitHub, for "improve this page"; without one there is no such link.
    repository: str = ""
    branch: str = "main"
    # The folder of additional information, as the repository has it.
    info_path: str = "info"


class ReleaseMark(Struct, frozen=True):
    """An entry in one of all releases that are known: a cell of the history chart."""

    release: str
    mark: Mark
    # Worded differently than in the release before.
    reworded: bool


class Related(Struct, frozen=True):
    id: str
    type: str
    # Why it is shown: "the same type", "raised in the same function", "same words", ...
    why: str


class Seen(Struct, frozen=True):
    """How often a sweep met a break."""

    programs: int
    sites: int
    occurrences: int
    # Some of the programs, the ones with the most occurrences first.
    names: tuple[str, ...]


class Info(Struct, frozen=True):
    """What people added to a break."""

    file: str  # its name in the folder of additional information
    markdown: str
    # Sanitised; the only HTML in here.
    html: str
    # What is wrong with the markers, or nothing.
    problem: str


class Break(Struct, frozen=True):
    """Everything on the page of one break."""

    id: str
    page: Page
    row: Row
    status: Status
    history: tuple[ReleaseMark, ...]
    example: Example | None
    # Why there is no example, where that is known.
    unreachable: str
    related: tuple[Related, ...]
    seen: Seen | None
    info: Info | None
    # Opens GitHub's editor at the right file; empty without a repository.
    edit_link: str
    # What its page lacks: "hints", "explanation", "example", "additional information".
    missing: tuple[str, ...]

    @property
    def path(self) -> str:
        return f"gb/{self.id.lower()}.html"

    @property
    def worded(self) -> bool:
        """False for an entry of which only facts are at hand: no type, no text, no category."""
        return bool(self.page.category)


class Change(Struct, frozen=True):
    id: str
    type: str
    # For a rewording: which of type, context, explanation and hints, where that is known.
    what: tuple[str, ...] = ()


class Release(Struct, frozen=True):
    """One release against the one before."""

    release: str
    before: str | None
    # ISO date; empty where it is not known.
    date: str
    entries: int
    live: int
    new: tuple[Change, ...]
    reworded: tuple[Change, ...]
    retired: tuple[Change, ...]
    revived: tuple[Change, ...]
    vanished: tuple[Change, ...]

    @property
    def path(self) -> str:
        return f"releases/{self.release}.html"


class CategoryPage(Struct, frozen=True):
    name: str
    title: str
    advice: str
    fixable: str
    cost: str
    # Our own text, rendered; sanitised like everything that comes from Markdown.
    html: str
    breaks: tuple[str, ...]

    @property
    def path(self) -> str:
        return f"categories/{self.name}.html"


class Site(Struct, frozen=True):
    settings: Settings
    # The registry that the texts are from.
    release: str
    checksum: str
    origin: str
    breaks: dict[str, Break]
    # Newest first.
    releases: tuple[Release, ...]
    categories: tuple[CategoryPage, ...]
    # Hints that many entries share say nothing about one.
    shared_hints: frozenset[str]
    # Files of additional information that are damaged, and those whose id no registry has.
    problems: tuple[str, ...] = ()
    # What is different from the newest release, for a registry that is none itself.
    upcoming: Release | None = None
    # By name, the day on which this site first had it: of what has no date of its own.
    first_seen: dict[str, str] = {}
    orphans: tuple[Info, ...] = ()
