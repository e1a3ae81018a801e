"""Check a site for broken links, external requests, damaged markers and stale pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

from fullgraph.registry.releases import is_release
from fullgraph.registry.sources import all_histories, installed_snapshot, snapshot_named
from fullgraph.site.build import dated
from fullgraph.site.fingerprint import digest, fingerprint, maker_fingerprint
from fullgraph.site.gather import gather
from fullgraph.site.info_check import check_info
from fullgraph.site.links import link_problems, read_page, requests_in
from fullgraph.site.model import SiteData
from fullgraph.site.output import Manifest, OutputError, read_manifest
from fullgraph.site.pages import all_outputs
from fullgraph.site.settings import BuildPlan, SettingsError


class Checked(Struct, frozen=True):
    """The result of a check."""

    problems: tuple[str, ...]
    # Information that is not a problem.
    notes: tuple[str, ...]
    files: int


def check_site(folder: Path, plan: BuildPlan) -> Checked:
    """Return the problems of a site."""
    manifest = read_manifest(folder)
    if manifest is None:
        raise OutputError(f"{folder} is not a site; make one with fullgraph site build -o {folder}")
    problems = [*_changed(folder, manifest), *_links(folder, manifest, plan)]
    notes: list[str] = []
    # A site of a release is compared with it. For any other source, its location is unknown.
    source = plan.release or (manifest.release if is_release(manifest.release) else None)
    info = plan.info_folder()
    if info is not None:
        found = check_info(info, _known_ids(source))
        problems += found.problems
        notes += found.notes
    if source is None:
        notes.append("stale pages were not checked; name the source with --release")
    else:
        site = gather(snapshot_named(source), plan.settings, info, plan.reports)
        problems += _stale(dated(site, manifest), manifest)
    return Checked(tuple(problems), tuple(notes), len(manifest.files))


def check_contributions(plan: BuildPlan) -> Checked:
    """Return the problems of the folder of additional information."""
    info = plan.info_folder()
    if info is None:
        raise SettingsError(
            f"there is no folder {plan.info}; name one with --info, or name a site to check"
        )
    found = check_info(info, _known_ids(plan.release))
    return Checked(found.problems, found.notes, found.files)


def _known_ids(source: str | None) -> set[str]:
    """Return the ids of all known releases and of a registry; None means the installed torch."""
    chosen = snapshot_named(source) if source is not None else installed_snapshot()
    return {*all_histories().ids(), *(chosen.entries if chosen is not None else ())}


def _changed(folder: Path, manifest: Manifest) -> Iterator[str]:
    if manifest.pending:
        yield "a build was interrupted; build again"
    for name, known in manifest.files.items():
        try:
            data = (folder / name).read_bytes()
        except OSError:
            yield f"{name} is missing; build again"
            continue
        if digest(data) != known.content:
            yield f"{name} was changed after it was built; build again"


def _stale(site: SiteData, manifest: Manifest) -> Iterator[str]:
    if manifest.maker != maker_fingerprint():
        yield "the site was built by another version of fullgraph; build again"
        return
    names = set()
    for output in all_outputs(site):
        names.add(output.path)
        known = manifest.files.get(output.path)
        if known is None:
            yield f"{output.path} does not exist yet; build again"
        elif known.facts != fingerprint(output.facts):
            yield f"{output.path} is stale: its facts changed; build again"
    for name in sorted(set(manifest.files) - names):
        yield f"{name} is stale: the page no longer exists; build again"


def _links(folder: Path, manifest: Manifest, plan: BuildPlan) -> Iterator[str]:
    texts = {
        name: (folder / name).read_text(encoding="utf-8", errors="replace")
        for name in manifest.files
        if name.endswith((".html", ".css", ".js")) and (folder / name).is_file()
    }
    pages = {name: read_page(text) for name, text in texts.items() if name.endswith(".html")}
    for name, text in texts.items():
        outside = pages[name].requests if name in pages else requests_in(name, text)
        yield from (f"{name} loads {address}" for address in outside)
    base = urlsplit(plan.settings.address).path or "/"
    yield from link_problems(pages, manifest.files, base)
