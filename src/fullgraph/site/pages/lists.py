"""Lists of breaks behind the numbers of the dashboard: one page per number, by category.

`LISTS` names each list and says which breaks belong to it. A page per release lists the breaks that
it raises, and those that it only registers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

from markupsafe import Markup

from fullgraph.site.labels import STATUS, capital, named
from fullgraph.site.model import BreakPage, SiteData
from fullgraph.site.pages import Output
from fullgraph.site.templating import PageFrame, frame_of, label, renderer


class BreakList(NamedTuple):
    """A list of breaks that have something in common."""

    name: str
    title: str
    about: str
    has: Callable[[BreakPage], bool]

    @property
    def path(self) -> str:
        """The path of the page."""
        return f"lists/{self.name}.html"


def _is_live(each: BreakPage) -> bool:
    return each.status == "live"


def _lacks(*what: str) -> Callable[[BreakPage], bool]:
    return lambda each: _is_live(each) and not set(what).isdisjoint(each.missing)


LISTS = (
    BreakList("all", "Known breaks", "Every break of every known release.", lambda _: True),
    BreakList("live", "Live breaks", "Code of this release raises them.", _is_live),
    BreakList(
        "retired",
        "Retired breaks",
        "The registry has them, and no code raises them.",
        lambda each: each.status == "retired",
    ),
    BreakList(
        "with-example",
        "Breaks with an example",
        "Code that breaks, and in most cases code that does not.",
        lambda each: each.example is not None,
    ),
    BreakList(
        "with-information",
        "Breaks with additional information",
        "Contributed by people who met them.",
        lambda each: "additional information" not in each.missing,
    ),
    BreakList(
        "without-explanation",
        "Live breaks without an explanation",
        "torch does not say why they happen.",
        _lacks("explanation"),
    ),
    BreakList(
        "without-hints", "Live breaks without hints", "torch gives no hint.", _lacks("hints")
    ),
    BreakList(
        "to-write",
        "Live breaks that need an example",
        "No program that triggers them is known yet.",
        lambda each: _lacks("example")(each) and not each.unreachable,
    ),
    BreakList(
        "no-example-possible",
        "Live breaks that an example cannot show",
        "Their pages say why: most need hardware or a build of torch that tests do not have.",
        lambda each: _lacks("example")(each) and bool(each.unreachable),
    ),
    BreakList(
        "without-information",
        "Live breaks without additional information",
        "Yours may be the first.",
        _lacks("additional information"),
    ),
)


class _Group(NamedTuple):
    anchor: str
    title: str
    breaks: list[BreakPage]


def outputs(site: SiteData) -> Iterator[Output]:
    """Yield the pages."""
    frame = frame_of(site)
    every = [site.breaks[identifier] for identifier in sorted(site.breaks)]
    for each in LISTS:
        groups = by_category(site, filter(each.has, every))
        yield _page(frame, each.path, each.title, each.about, groups)
    for release in site.releases:
        yield _page(
            frame,
            release_list(release.release),
            f"Breaks of {named(release.release)}",
            "What the registry of this release has.",
            _of_release(release.release, every),
        )


def release_list(release: str) -> str:
    """Return the path of the list of the breaks of a release."""
    return f"lists/torch-{release}.html"


def by_category(site: SiteData, breaks: Iterable[BreakPage]) -> list[_Group]:
    """Return the breaks by category, in the order of the categories."""
    members: dict[str, list[BreakPage]] = {}
    for each in breaks:
        members.setdefault(each.page.category, []).append(each)
    titles = {category.name: capital(category.title) for category in site.categories}
    titles[""] = "Description not available"
    return [
        _Group(name or "unknown", title, members[name])
        for name, title in titles.items()
        if name in members
    ]


def _of_release(release: str, breaks: list[BreakPage]) -> list[_Group]:
    marks = {
        each.id: next((mark.mark for mark in each.history if mark.release == release), "absent")
        for each in breaks
    }
    titles = {"live": "Live", "retired": "In the registry, not raised"}
    return [
        _Group(kind, title, [each for each in breaks if marks[each.id] == kind])
        for kind, title in titles.items()
    ]


def _page(frame: PageFrame, path: str, title: str, about: str, groups: list[_Group]) -> Output:
    shown = [
        (group.anchor, group.title, [(e.id, e.page.type, e.status) for e in group.breaks])
        for group in groups
    ]
    render = partial(_render, frame, path, title, about, groups)
    return Output(path, (frame, title, about, shown), render)


def _render(frame: PageFrame, path: str, title: str, about: str, groups: list[_Group]) -> bytes:
    return renderer(
        "list.html",
        frame,
        path,
        kind="dashboard",
        title=title,
        description=f"{title} of torch.compile: {about}",
        about=about,
        total=sum(len(group.breaks) for group in groups),
        groups=[(each.anchor, each.title, len(each.breaks), _rows(each.breaks)) for each in groups],
    )()


def _rows(breaks: list[BreakPage]) -> Markup:
    # Thousands of rows: a template would take ten times as long.
    return Markup("".join(map(_row, breaks)))


def _row(each: BreakPage) -> str:
    badge = (
        f'<span class="meta"><span class="badge {each.status}">{STATUS[each.status]}</span></span>'
        if each.status != "live"
        else ""
    )
    return (
        f'<li><a href="../{each.path}"><span class="id">{each.id}</span> '
        f'<span class="type">{label(each.page.type)}</span></a>{badge}</li>\n'
    )
