"""Looks a site over: links, requests to other hosts, markers, pages that are not as they should."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

from fullgraph.registry.releases import is_release
from fullgraph.registry.sources import snapshot_named
from fullgraph.site.build import dated
from fullgraph.site.fingerprint import digest, fingerprint, maker_fingerprint
from fullgraph.site.gather import gather
from fullgraph.site.info import read_info
from fullgraph.site.links import link_problems, read_page, requests_in
from fullgraph.site.model import Site
from fullgraph.site.output import Manifest, OutputError, read_manifest
from fullgraph.site.pages import all_outputs
from fullgraph.site.settings import Plan


class Checked(Struct, frozen=True):
    problems: tuple[str, ...]
    # Worth knowing, and nothing wrong.
    notes: tuple[str, ...]
    files: int


def check_site(folder: Path, plan: Plan) -> Checked:
    manifest = read_manifest(folder)
    if manifest is None:
        raise OutputError(f"{folder} is not a site: fullgraph site build -o {folder} makes one")
    problems = [*_changed(folder, manifest), *_links(folder, manifest, plan)]
    notes = []
    # A site of a release can be compared with that; of another source nobody knows where it is.
    source = plan.release or (manifest.release if is_release(manifest.release) else None)
    info = plan.info_folder()
    if source is None:
        notes.append("whether pages are stale was not checked: name the source with --release")
        if info is not None:
            problems += read_info(info, ()).problems
    else:
        site = gather(snapshot_named(source), plan.settings, info, plan.seen)
        problems += [*site.problems, *_stale(dated(site, manifest), manifest)]
        notes += [f"{info.file} is about a break that no release has" for info in site.orphans]
    return Checked(tuple(problems), tuple(notes), len(manifest.files))


def _changed(folder: Path, manifest: Manifest) -> Iterator[str]:
    if manifest.pending:
        yield "a build was interrupted: build again"
    for name, known in manifest.files.items():
        try:
            data = (folder / name).read_bytes()
        except OSError:
            yield f"{name} is missing: build again"
            continue
        if digest(data) != known.content:
            yield f"{name} was changed after it was built: build again"


def _stale(site: Site, manifest: Manifest) -> Iterator[str]:
    if manifest.maker != maker_fingerprint():
        yield "the site was built by another version of fullgraph: build again"
        return
    names = set()
    for output in all_outputs(site):
        names.add(output.path)
        known = manifest.files.get(output.path)
        if known is None:
            yield f"{output.path} is not there yet: build again"
        elif known.facts != fingerprint(output.facts):
            yield f"{output.path} is stale: what it shows has changed since it was built"
    for name in sorted(set(manifest.files) - names):
        yield f"{name} is stale: there is no such page any more"


def _links(folder: Path, manifest: Manifest, plan: Plan) -> Iterator[str]:
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
