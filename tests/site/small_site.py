"""A small site of invented breaks, and the files that its pages are expected to be.

    python -m tests.site.small_site

writes `tests/site/expected` again, after pages were changed on purpose; read the diff of git.
The invented registry has breaks that were reworded, retired, revived and removed. Nothing of it
depends on the installed torch, the catalog or the documentation.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from pathlib import Path

import pytest
from msgspec.structs import replace

from fullgraph.catalog.parse import Example, Fix
from fullgraph.catalog.verdicts import Verdict
from fullgraph.fix.fixers._cases import Case
from fullgraph.fix.fixers._pages import FixerPage
from fullgraph.guide.lesson import Lesson, Part
from fullgraph.guide.manual import Chapter, ChapterPart
from fullgraph.registry import sources
from fullgraph.registry.entries import CallSite, Snapshot, UnmappedCall, Wording
from fullgraph.registry.history import facts_of
from fullgraph.site import gather, met_often, templating
from fullgraph.site.documents import Document
from fullgraph.site.markers import END, START
from fullgraph.site.model import FixerLink, Settings, SiteData
from fullgraph.site.pages import all_outputs, manual, sitemap

EXPECTED = Path(__file__).parent / "expected"
# The pages that say nothing about entries are left out, and one of several that are alike is kept.
_SHOWN = re.compile(
    r"gb/.*|api/(index|gb/GB900[14])\.json|index\.html|dashboard\.html|feed\.xml|search-index\.js"
    r"|lists/(live|torch-2\.9\.0|without-information)\.html|releases/.*|llms\.txt|404\.html"
    r"|(GB|gb)9001(/index)?\.html|sitemap\.xml|opensearch\.xml|(docs|fixes|guide)/.*"
    r"|categories/(index\.html|data-dependent\..*)|search-fixes\.js|api/gb/GB9005\.json"
)
# These have their beginning and end as well, which are the same on all pages.
_WHOLE = {"index.html", "404.html", "GB9001.html", "gb9001/index.html", "docs/balls.html"}
_ASSETS = re.compile(r"\?v=[0-9a-f]{8}")

JUGGLE = CallSite("torch/_dynamo/juggling.py", 12, "Juggler.throw")
DRAWER = CallSite("torch/_dynamo/drawer.py", 7, "find")
OLD_BALL = Wording("Data-dependent ball", "ball {n}", "The ball {n} is in the air.", ("Wait.",))
BALL = Wording(
    "Data-dependent ball",
    "ball {n}",
    "The ball {n} of `{type(hand).__name__}` is <in> the air. See https://example.org/balls.",
    ("Catch it with `torch.where`.", "Wait until it is down."),
)
SOCK = Wording("Lost a sock", "sock {name}", "It was in the drawer.", ("Look in the drawer.",))
CLOWN = Wording("Dynamic shape of a clown", "", "", ())
HAT = Wording("Data-dependent hat & ball", "hat", "The hat is empty.", ("Wait until it is down.",))
GONE = Wording("Gone", "", "It left.", ())

EXAMPLE = Example(
    id="GB9001",
    key="GB9001",
    file=Path("gb9001.py"),
    title="one hand",
    how="A branch on the number of balls in the air. Another sentence.",
    breaks="def f(x):\n    if x.sum() > 0:\n        return x < 1\n    return x",
    fixes=(
        Fix("where", "rewrite", "exact", "Both sides are cheap.", "def f(x):\n    return x"),
        Fix("outside", "move", "equal", "", "def g(x):\n    return f(x)"),
    ),
    instead="",
    eager_raises=False,
)
VARIANT = EXAMPLE._replace(
    key="GB9001_two", title="two hands", how="Two hands.", fixes=(), instead="Use one hand.",
    eager_raises=True, breaks='def f(x):\n    """```"""\n    return bool(x)',
)  # fmt: skip
VERDICTS = {
    "GB9001": {"2.8.0": Verdict("fix_fails", ("outside",)), "2.9.0": Verdict("holds"),
               "2.10.0": Verdict("holds")},
    "GB9001_two": {"2.9.0": Verdict("other_break"), "2.10.0": Verdict("no_break")},
}  # fmt: skip

FIXERS = (
    FixerPage(
        "catch_ball", "a `ball` → caught", "rewrite", "exact", "Catches it.",
        (("What it does", "Puts a `hand` under it."), ("Not applied when", "It is *up*.")),
        ("GB9001", "GB0001"), (),
        (Case("One ball", "It is light.",
              "def f(x):\n    return x < 1\n\ndef inputs():\n    pass\n",
              diff="@@ -1,2 +1,2 @@\n def f(x):\n-    return x < 1\n+    return x > 1\n"),
         Case("Two balls", "", "def f(x):\n    return x\n", "", "fixer", "`two` (line 2)")),
    ),
    FixerPage("drop_ball", "ball → floor", "escape", "dropped", "Drops it.", (), (),
              ("data-dependent", "mutation"), ()),
)  # fmt: skip
LESSONS = (
    Lesson("balls", 1, "What a `ball` is", 2, ("balls",), ("GB9001", "GB0001"), (
        Part("text", "A ball is *round*.\n\nSee {{GB9001.type}}.\n"),
        Part("code", "def f(x):\n    return x + 1\n\nprint(f(1))\n"),
        Part("output", "2 < 3\n"),
        Part("code", "1 / 0\n", "raises"),
        Part("quiz", 'question = "Is `it` round?"\nanswer = "True"\nwhy = "It *is*."\n'),
    )),
    Lesson("socks", 2, "Socks", 3, (), (), (Part("text", "Two of them.\n"),)),
)  # fmt: skip
CHAPTERS = (
    Chapter("start", 1, "Start", "", (ChapterPart("text", "Buy *balls*.\n"),)),
    Chapter("throw", 2, "Throw a ball", "throw", (
        ChapterPart("text", "Throws a ball.\nHigh.\n\n`throw` needs {{GB9001.type}}.\n"),
        ChapterPart("file", "x = 1 < 2\n", "ball.py"),
        ChapterPart("command", "fullgraph throw ball.py\n"),
        ChapterPart("output", "thrown: 1 & 2\n"),
        ChapterPart("command", "fullgraph throw --cost ball.py\n", "varies"),
        ChapterPart("output", "3.1 s\n"),
    )),
)  # fmt: skip
DOCUMENTS = (
    Document("architecture", "How it is made", "By hand.\n"),
    Document("balls", "Balls", (
        "Balls are [round](architecture.md#shape). See [the code](../src/x.py), [balls](hat.md) or "
        "[more](https://example.org).\n\n## Shape\n\nText.\n\n### Inside\n\n```\nair\n```\n"
    )),
    Document("ball-format", "Format", "- a list\n\nThe **format** has [one](balls.md) field.\n"),
)  # fmt: skip


def _snapshot(release: str, entries: dict[str, Wording], *live: tuple[str, CallSite]) -> Snapshot:
    return Snapshot(
        release,
        {identifier: (wording,) for identifier, wording in entries.items()},
        {identifier: (site,) for identifier, site in live},
        (UnmappedCall("Unheard of", DRAWER),),
        checksum="00c0ffee",
        origin="invented",
    )


RELEASES = (
    _snapshot("2.8.0", {"GB9001": OLD_BALL, "GB9002": SOCK, "GB9004": GONE},
              ("GB9001", JUGGLE), ("GB9002", DRAWER), ("GB9004", DRAWER)),
    _snapshot("2.9.0", {"GB9001": OLD_BALL, "GB9002": SOCK, "GB9003": CLOWN, "GB9004": GONE},
              ("GB9001", JUGGLE), ("GB9002", DRAWER)),
    _snapshot("2.10.0", {"GB9001": BALL, "GB9002": SOCK, "GB9003": CLOWN, "GB9005": HAT},
              ("GB9001", JUGGLE), ("GB9003", DRAWER), ("GB9005", JUGGLE)),
)  # fmt: skip
INFORMATION = {
    "gb9003.md": "## A clown\n\nIt *moves*: `x.shape`.\n\n```python\nx = 1\n```",
    "gb9099.md": "About a break that no release has.",
}


def small_site() -> SiteData:
    """Return the data of the site."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("FULLGRAPH_HOME", f"{folder}/home")
        patch.setattr(sources, "torch_folder", lambda: None)
        patch.setattr(
            sources, "known_facts", lambda: {each.release: facts_of(each) for each in RELEASES}
        )
        patch.setattr(gather, "unreachable", lambda: {"GB9003": "needs a GPU: clowns are large"})
        newest = RELEASES[-1]
        entries = {**newest.entries, "GB9001": (BALL, OLD_BALL)}
        return _with_examples(
            gather.gather(
                replace(newest, entries=entries),
                Settings("Breaks & balls", "https://example.org/breaks/", "owner/name", "trunk"),
                _information(Path(folder, "info")),
                _reports(Path(folder, "reports")),
            )
        )


def _information(folder: Path) -> Path:
    folder.mkdir()
    for name, text in INFORMATION.items():
        (folder / name).write_text(f"{START}\n{text}\n{END}\n")
    (folder / "gb9005.md").write_text(f"{START}\nNot closed.\n")
    return folder


def _reports(folder: Path) -> Path:
    folder.mkdir()
    for name, often in (("one", 3), ("two", 1)):
        found = [{"id": "GB9001", "occurrences": often}, {"id": "GB9005", "occurrences": 1}][:often]
        (folder / f"{name}.json").write_text(json.dumps({"format": 1, "sites": found}))
    return folder


def _with_examples(site: SiteData) -> SiteData:
    shown = replace(
        site.breaks["GB9001"],
        example=EXAMPLE,
        variants=(VARIANT,),
        verdicts=VERDICTS,
        missing=("additional information",),
        fixers=(FixerLink("catch_ball", "a ball → caught"),),
        fixers_by_id=True,
    )
    return replace(site, breaks={**site.breaks, "GB9001": shown}, lessons=LESSONS, fixers=FIXERS)


def rendered() -> dict[str, str]:
    """Return the pages by their path."""
    site = small_site()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(templating, "fully_run_releases", lambda: ("2.9.0", "2.10.0"))
        patch.setattr(met_often, "_needs_setting", lambda example: False)
        for module in (manual, sitemap):
            patch.setattr(module, "all_chapters", lambda: CHAPTERS)
            patch.setattr(module, "all_documents", lambda: DOCUMENTS)
        return {
            output.path: _shown(output.path, output.render().decode())
            for output in all_outputs(site)
            if _SHOWN.fullmatch(output.path)
        }


def _shown(path: str, text: str) -> str:
    """Return a page without the checksum of the assets; for most pages, only its own part."""
    text = _ASSETS.sub("?v=0", text)
    if path.endswith(".html") and path not in _WHOLE:
        text = "<main" + text.partition("<main")[2].partition("</main>")[0]
    if path == "search-index.js":
        index = json.loads(text.partition("=")[2].strip().removesuffix(";"))
        # The other parts are about all categories and documents.
        parts = {name: index[name] for name in ("releases", "entries", "texts", "placeholders")}
        text = json.dumps(parts, indent=1, ensure_ascii=False)
    return text if text.endswith("\n") else f"{text}\n"


def expected() -> dict[str, str]:
    """Return the pages that are expected, by their path."""
    return {
        file.relative_to(EXPECTED).as_posix(): file.read_text("utf-8")
        for file in EXPECTED.rglob("*")
        if file.is_file()
    }


def main() -> None:
    """Write the expected pages again."""
    shutil.rmtree(EXPECTED, ignore_errors=True)
    for path, text in rendered().items():
        file = EXPECTED / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
