"""One page per id that has contributed information and is in no known release."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from markupsafe import Markup

from fullgraph.site.info import edit_link
from fullgraph.site.model import Info, SiteData
from fullgraph.site.pages import Output
from fullgraph.site.templating import PageFrame, frame_of, renderer


def outputs(site: SiteData) -> Iterator[Output]:
    """Yield the pages."""
    frame = frame_of(site)
    for info in site.orphans:
        file = f"{site.settings.info_path}/{info.file}"
        link = edit_link(info.id, site.settings, info)
        facts = (frame, info, file, link)
        yield Output(info.path, facts, partial(_render, frame, info, file, link))


def _render(frame: PageFrame, info: Info, file: str, link: str) -> bytes:
    return renderer(
        "unknown_break.html",
        frame,
        info.path,
        kind="break-page",
        title=f"{info.id}: in no known release",
        description=f"No known release of torch has {info.id}; contributed information about it.",
        identifier=info.id,
        info=info,
        html=Markup(info.html),
        edit_link=link,
        file=file,
    )()
