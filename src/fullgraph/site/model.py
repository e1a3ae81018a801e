"""Data of a site. It contains no HTML except `Info.html`; this module does no I/O."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from fullgraph.catalog.parse import Example
from fullgraph.catalog.verdicts import Verdict
from fullgraph.fix.fixers._pages import FixerPage
from fullgraph.guide.lesson import Lesson
from fullgraph.registry.pages import Page, Row

# live: some call of the chosen release raises it. retired: no call does. new: no known
# release has it. removed: a release had it, and the registry does not. later: it is new in a
# release after the chosen one. unknown: torch's source code was not available.
Status = Literal["live", "retired", "new", "removed", "later", "unknown"]
# absent: the release does not have the entry.
Mark = Literal["absent", "live", "retired"]


class Settings(Struct, frozen=True):
    """Settings of the owner of a site."""

    title: str = "Graph breaks"
    # URL of the site, for the feed and the sitemap; all other links are relative.
    address: str = ""
    # `owner/name` on GitHub, for "improve this page"; empty for no such link.
    repository: str = ""
    branch: str = "main"
    # Path of the folder of additional information in the repository.
    info_path: str = "info"


class ReleaseMark(Struct, frozen=True):
    """An entry in one known release: a cell of the history chart."""

    release: str
    mark: Mark
    # True if the text differs from the previous release.
    reworded: bool


class Related(Struct, frozen=True):
    """A break that a reader may be looking for instead."""

    id: str
    type: str
    # The reason, such as "the same type" or "raised in the same function".
    why: str


class SweepCounts(Struct, frozen=True):
    """How often a break occurs in a set of programs."""

    programs: int
    sites: int
    occurrences: int
    # Some of the programs, those with most occurrences first.
    names: tuple[str, ...]


class Info(Struct, frozen=True):
    """Contributed information about a break."""

    file: str  # name in the folder of additional information
    markdown: str
    # Sanitized; the only HTML in this module.
    html: str
    # What is wrong with the file; empty if nothing.
    problem: str

    @property
    def id(self) -> str:
        """The id that the file is named after."""
        return self.file.rpartition(".")[0].upper()

    @property
    def path(self) -> str:
        """The path of the page."""
        return break_path(self.id)


def break_path(identifier: str) -> str:
    """Return the path of the page of a break."""
    return f"gb/{identifier.lower()}.html"


class FixerLink(Struct, frozen=True):
    """A fixer of `fullgraph fix` that another page links to."""

    name: str
    title: str

    @property
    def path(self) -> str:
        """The path of the page."""
        return fixer_path(self.name)


def fixer_path(name: str) -> str:
    """Return the path of the page of a fixer."""
    return f"fixes/{name}.html"


def lesson_path(name: str) -> str:
    """Return the path of the page of a lesson."""
    return f"guide/{name}.html"


class BreakPage(Struct, frozen=True):
    """Everything on the page of one break."""

    id: str
    page: Page
    row: Row
    status: Status
    history: tuple[ReleaseMark, ...]
    # One letter per release of the history: l, r or a (live, retired, absent).
    marks: str
    example: Example | None
    # Further examples of the same entry.
    variants: tuple[Example, ...]
    # By key of the example, then by release: what it did there.
    verdicts: dict[str, dict[str, Verdict]]
    # Why there is no example; empty if unknown.
    unreachable: str
    related: tuple[Related, ...]
    sweep: SweepCounts | None
    info: Info | None
    # URL of GitHub's editor for the file; empty without a repository.
    edit_link: str
    # The path of the file of information in the repository.
    info_file: str
    # What the page lacks: "hints", "explanation", "example", "additional information".
    missing: tuple[str, ...]
    fixers: tuple[FixerLink, ...] = ()
    # True if the fixers list this break; False if they only list its category.
    fixers_by_id: bool = False

    @property
    def path(self) -> str:
        """The path of the page."""
        return break_path(self.id)

    @property
    def examples(self) -> tuple[Example, ...]:
        """The example and its variants."""
        return (*((self.example,) if self.example else ()), *self.variants)

    def facts(self) -> tuple[object, ...]:
        """Return everything that the page shows, in a form that can be encoded."""
        examples = [example.as_json() for example in self.examples]
        return (replace(self, example=None, variants=()), examples)

    @property
    def worded(self) -> bool:
        """False for an entry without text: it has no type and no category."""
        return bool(self.page.category)


class Change(Struct, frozen=True):
    """A changed entry of a release."""

    id: str
    type: str
    # For a rewording, the fields that differ: type, context, explanation and hints; empty if
    # unknown.
    what: tuple[str, ...] = ()


class Release(Struct, frozen=True):
    """One release compared with the previous one."""

    release: str
    before: str | None
    # ISO date; empty if unknown.
    date: str
    entries: int
    live: int
    new: tuple[Change, ...]
    reworded: tuple[Change, ...]
    retired: tuple[Change, ...]
    revived: tuple[Change, ...]
    removed: tuple[Change, ...]

    @property
    def path(self) -> str:
        """The path of the page."""
        return f"releases/{self.release}.html"


class CategoryPage(Struct, frozen=True):
    """Everything on the page of one category."""

    name: str
    title: str
    advice: str
    fixable: str
    cost: str
    # Markdown.
    text: str
    breaks: tuple[str, ...]
    # The fixers that list the category or one of its breaks.
    fixers: tuple[FixerLink, ...] = ()

    @property
    def path(self) -> str:
        """The path of the page."""
        return f"categories/{self.name}.html"

    @property
    def feed(self) -> str:
        """The path of the feed of changes."""
        return f"categories/{self.name}.xml"


class SiteData(Struct, frozen=True):
    """Everything that the pages of a site show."""

    settings: Settings
    # The registry that the texts come from.
    release: str
    checksum: str
    origin: str
    breaks: dict[str, BreakPage]
    # Newest first.
    releases: tuple[Release, ...]
    categories: tuple[CategoryPage, ...]
    # Hints that many entries share are not specific to one.
    shared_hints: frozenset[str]
    # Damaged files of additional information.
    problems: tuple[str, ...] = ()
    # Changes of an unreleased registry since the newest release.
    upcoming: Release | None = None
    # By name, the day on which a release without a date first appeared on this site.
    first_seen: dict[str, str] = {}
    orphans: tuple[Info, ...] = ()
    # By name.
    fixers: tuple[FixerPage, ...] = ()
    # In reading order.
    lessons: tuple[Lesson, ...] = ()
