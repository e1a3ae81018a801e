"""The templates, and what they can use. Every value is escaped unless it is `Markup`."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from markupsafe import Markup
from msgspec import Struct

from fullgraph.registry.entries import checksum_of
from fullgraph.site import labels as words
from fullgraph.site.memory import compiled_templates
from fullgraph.site.model import Site

if TYPE_CHECKING:
    # Slow to import, and a build in which nothing changed renders nothing.
    from jinja2 import Environment, Template

TEMPLATES = Path(__file__).parent / "templates"
ASSETS = Path(__file__).parent / "assets"

_HOLE = "‹(?P<hole>[^›]*)›"
_VAR = r"<var>\g<hole></var>"
_MARKED = re.compile(rf"{_HOLE}|`(?P<code>[^`\n]+)`")
# In sentences names of torch's are code as well, marked or not.
_SENTENCE = re.compile(
    rf"{_MARKED.pattern}"
    r"|(?<![\w./])(?P<name>torch(?:\.\w+)+(?:\(\))?(?: ?= ?(?:True|False))?)"
    r"|(?P<link>https?://[^\s<>\"'`‹]*[^\s<>\"'`‹.,;:)\]])"
)

_CONTROLS = bytes({*range(32), 127} - {*b"\t\n\r"})


class Frame(Struct, frozen=True):
    """What every page shows around its own content."""

    title: str
    address: str
    repository: str
    release: str
    # Of the scripts and the styles, so that no browser keeps old ones.
    assets: str


def frame_of(site: Site) -> Frame:
    settings = site.settings
    return Frame(
        settings.title, settings.address, settings.repository, site.release, assets_version()
    )


@cache
def assets_version() -> str:
    return checksum_of(b"".join(file.read_bytes() for file in sorted(ASSETS.iterdir())))


def without_controls(html: bytes) -> bytes:
    """HTML cannot say control characters; a registry or a file of results can have them."""
    # Counting is quick, and hardly any page has one.
    if len(html) == len(html.translate(None, _CONTROLS)):
        return html
    return re.sub(rb"[%s]" % re.escape(_CONTROLS), "\ufffd".encode(), html)


def root_of(path: str) -> str:
    """From a page back to the site's first page: links work under any address and in a folder."""
    return "../" * path.count("/")


def home_path(address: str) -> str:
    """Where the site is on its host, for pages that are shown at addresses of any depth."""
    return urlsplit(address).path.rstrip("/") + "/"


def renderer(template: str, frame: Frame, path: str, **values: Any) -> Callable[[], bytes]:
    """Renders a page when it is called; `root` and `frame` are there in every template."""

    def render() -> bytes:
        found = _template(template)
        base = {"root": root_of(path), "frame": frame, "path": path}
        return without_controls(found.render({**base, **values}).encode())

    return render


@cache
def prose(text: str) -> Markup:
    """A text of the registry: what is only known at run time, code and links are told apart."""
    paragraphs = [part for part in text.split("\n") if part.strip()]
    return Markup("<br>".join(_inline(part, _SENTENCE) for part in paragraphs))


@cache
def label(text: str) -> Markup:
    """The same for a name, such as a type: it is code more often than not, so none stands out."""
    # Names are long, and may be broken where their parts begin.
    return Markup(re.sub(r"(?<=[\w)])([/._])(?=\w)(?![^<]*>)", r"\1<wbr>", _inline(text, _MARKED)))


def _inline(text: str, special: re.Pattern[str]) -> str:
    parts: list[str] = []
    position = 0
    for match in special.finditer(text):
        parts += [escape(text[position : match.start()]), _special(match)]
        position = match.end()
    return "".join([*parts, escape(text[position:])])


def _special(match: re.Match[str]) -> str:
    text = escape(match[match.lastgroup or 0])
    if match.lastgroup == "hole":
        return f"<var>{text}</var>"
    if match.lastgroup == "link":
        return f'<a href="{text}">{text}</a>'
    # Holes inside code are holes all the same.
    return f"<code>{re.sub(_HOLE, _VAR, text)}</code>"


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined

    compiled = compiled_templates()
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        auto_reload=False,
        bytecode_cache=FileSystemBytecodeCache(str(compiled)) if compiled else None,
    )
    environment.filters["prose"] = prose
    environment.filters["label"] = label
    environment.filters["named"] = words.named
    environment.filters["short"] = words.short
    environment.filters["capital"] = words.capital
    environment.globals["count"] = words.count
    environment.globals["STATUS"] = words.STATUS
    return environment


@cache
def _template(name: str) -> Template:
    return _environment().get_template(name)


def compile_templates() -> None:
    """All of them, to be kept for this build and later ones."""
    for file in TEMPLATES.glob("*.html"):
        _template(file.name)
