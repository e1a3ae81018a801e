"""Render templates. Every value is escaped unless it is `Markup`."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from html import escape, unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from markupsafe import Markup
from msgspec import Struct

from fullgraph.catalog.verdicts import fully_run_releases
from fullgraph.registry.entries import checksum_of
from fullgraph.site import labels as labels
from fullgraph.site.markdown import to_html
from fullgraph.site.model import SiteData
from fullgraph.site.placeholders import plain, spaced, words_for
from fullgraph.site.policy import POLICY
from fullgraph.site.report_link import report_link

if TYPE_CHECKING:
    # Slow to import, and not needed if no page changed.
    from jinja2 import Environment, Template

TEMPLATES = Path(__file__).parent / "templates"
ASSETS = Path(__file__).parent / "assets"

_PLACEHOLDER = "‹(?P<placeholder>[^›]*)›"
_MARKED = re.compile(rf"{_PLACEHOLDER}|`(?P<code>[^`\n]+)`")
_PLACEHOLDER_ONLY = re.compile(_PLACEHOLDER)
# In sentences, names of torch are shown as code even if they are not marked.
_SENTENCE = re.compile(
    rf"{_MARKED.pattern}"
    r"|(?<![\w./@])(?P<name>@?torch(?:\.\w+)+(?:\(\))?(?: ?= ?(?:True|False))?)"
    r"|(?P<link>https?://[^\s<>\"'`‹]*[^\s<>\"'`‹.,;:)\]])"
)

# Long names may be broken before their parts.
_BREAKABLE = re.compile(r"(?<=[\w)])([/._])(?=\w)(?![^<]*>)")
_LONG_NAME = re.compile(r"[^\s<>]{25,}")
_CONTROLS = bytes({*range(32), 127} - {*b"\t\n\r"})


# Links in the header: name, target, and the kind of the pages that belong to it.
_NAVIGATION = (
    ("Breaks", "index.html", "home"),
    ("Categories", "categories/index.html", "category"),
    ("Fixes", "fixes/index.html", "fixer"),
    ("Guide", "guide/index.html", "guide"),
    ("Docs", "docs/index.html", "docs"),
    ("Releases", "releases/index.html", "release"),
    ("Dashboard", "dashboard.html", "dashboard"),
    ("About", "about.html", "about"),
)
_TARGETS = frozenset(target for _, target, _ in _NAVIGATION)


class PageFrame(Struct, frozen=True):
    """What every page shows around its content."""

    title: str
    address: str
    repository: str
    release: str
    # Checksum of scripts and styles, so that browsers do not use old ones.
    assets: str
    # The known releases, newest first, for the switch "Your torch".
    releases: tuple[str, ...]
    # The releases on which every example was run, oldest first.
    verified: tuple[str, ...]


def frame_of(site: SiteData) -> PageFrame:
    """Return the frame of the pages of a site."""
    settings = site.settings
    return PageFrame(
        title=settings.title,
        address=settings.address,
        repository=settings.repository,
        release=site.release,
        assets=assets_version(),
        releases=tuple(each.release for each in site.releases),
        verified=fully_run_releases(),
    )


@cache
def assets_version() -> str:
    """Return a checksum of all assets."""
    return checksum_of(b"".join(file.read_bytes() for file in sorted(ASSETS.iterdir())))


def without_controls(html: bytes) -> bytes:
    """Replace control characters, which HTML does not allow; a registry can contain them."""
    # Counting is fast, and few pages have any.
    if len(html) == len(html.translate(None, _CONTROLS)):
        return html
    return re.sub(rb"[%s]" % re.escape(_CONTROLS), "\ufffd".encode(), html)


def root_of(path: str) -> str:
    """Return the relative path from a page to the home page; it works under any URL and in a
    folder."""
    return "../" * path.count("/")


def home_path(address: str) -> str:
    """Return the path of the site on its host, for pages that are shown at any depth."""
    return urlsplit(address).path.rstrip("/") + "/"


def renderer(template: str, frame: PageFrame, path: str, **values: Any) -> Callable[[], bytes]:
    """Return a function that renders a page; every template gets `root`, `frame`, `path` and
    `linked`, which is the path if the navigation has a link to it."""

    def render() -> bytes:
        found = _template(template)
        linked = path if path in _TARGETS else ""
        base = {"root": root_of(path), "frame": frame, "path": path, "linked": linked}
        return without_controls(found.render({**base, **values}).encode())

    return render


@cache
def _part(template: str, frame: PageFrame, root: str, kind: str = "", linked: str = "") -> Markup:
    """Return a part of the frame, which is the same on many pages."""
    values = {"frame": frame, "root": root, "kind": kind, "linked": linked}
    return Markup(_template(template).render(values))


def _macro(name: str) -> Callable[..., Markup]:
    """Return the macro of a template with the same name; importing it in a template is slow."""

    def call(*arguments: object) -> Markup:
        found: Markup = getattr(_template(f"{name}.html").module, name)(*arguments)
        return found

    return call


@cache
def prose(text: str) -> Markup:
    """Return a text of the registry as HTML, with placeholders, code and links marked."""
    paragraphs = [part for part in text.split("\n") if part.strip()]
    return Markup("<br>".join(_inline(part, _SENTENCE) for part in paragraphs))


@cache
def terminal(text: str) -> Markup:
    """Return a text as a terminal shows it, except that placeholders are marked."""
    return Markup(_inline(text, _PLACEHOLDER_ONLY))


@cache
def label(text: str) -> Markup:
    """Return a name, such as a type, as HTML; most of it is code, so code is not marked."""
    return Markup(_BREAKABLE.sub(r"\1<wbr>", _inline(text, _MARKED)))


def _inline(text: str, special: re.Pattern[str]) -> str:
    text = spaced(text)
    parts: list[str] = []
    position = 0
    for match in special.finditer(text):
        parts += [escape(text[position : match.start()]), _special(match)]
        position = match.end()
    return "".join([*parts, escape(text[position:])])


def _special(match: re.Match[str]) -> str:
    if match.lastgroup == "placeholder":
        return _placeholder(match)
    text = escape(match[match.lastgroup or 0])
    if match.lastgroup == "link":
        return f'<a href="{text}">{text}</a>'
    if "‹" not in text:
        text = _LONG_NAME.sub(lambda name: _BREAKABLE.sub(r"\1<wbr>", name[0]), text)
    # Placeholders inside code are marked too.
    return f"<code>{_PLACEHOLDER_ONLY.sub(_placeholder, text)}</code>"


def _placeholder(match: re.Match[str]) -> str:
    return f"<var>{escape(words_for(unescape(match['placeholder'])))}</var>"


@cache
def _markdown(text: str) -> Markup:
    return Markup(to_html(text))


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        auto_reload=False,
    )
    environment.filters["prose"] = prose
    environment.filters["label"] = label
    environment.filters["plain"] = plain
    environment.filters["terminal"] = terminal
    environment.filters["markdown"] = _markdown
    environment.filters["named"] = labels.named
    environment.filters["short"] = labels.short
    environment.filters["capital"] = labels.capital
    environment.filters["sentence"] = labels.sentence
    environment.filters["listed"] = labels.listed
    environment.globals["count"] = labels.count
    environment.globals["report_link"] = report_link
    environment.globals["part"] = _part
    for name in ("contribution", "fixer_links", "rows"):
        environment.globals[name] = _macro(name)
    environment.globals["NAVIGATION"] = _NAVIGATION
    environment.globals["POLICY"] = POLICY
    environment.globals["STATUS"] = labels.STATUS
    return environment


@cache
def _template(name: str) -> Template:
    return _environment().get_template(name)
