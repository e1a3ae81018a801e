"""Build a site. Everything is read and rendered before the first file is written."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct, structs

from fullgraph.registry.entries import Snapshot
from fullgraph.site.fingerprint import fingerprint, maker_fingerprint
from fullgraph.site.gather import gather
from fullgraph.site.model import SiteData
from fullgraph.site.output import FileFacts, Folder, Manifest, check_folder, opened
from fullgraph.site.pages import Output, all_outputs
from fullgraph.site.rendering import rendered
from fullgraph.site.settings import BuildPlan

Progress = Callable[[str], None]


class Built(Struct, frozen=True):
    """The result of a build."""

    breaks: int
    # Number of breaks without text.
    unworded: int
    files: int
    rendered: int
    written: tuple[str, ...]
    removed: tuple[str, ...]
    problems: tuple[str, ...]
    orphans: tuple[str, ...]

    def summary(self) -> str:
        """Return one line with the numbers and the problems that need a person."""
        same = self.files - len(self.written)
        parts = [
            f"{self.breaks} breaks, {self.files} files: {len(self.written)} written, "
            f"{len(self.removed)} removed, {same} unchanged"
        ]
        if self.unworded:
            parts.append(
                f"{self.unworded} without text, which is in other releases; download them with "
                "fullgraph registry sync"
            )
        if self.problems:
            parts.append(f"damaged: {', '.join(self.problems)}")
        if self.orphans:
            parts.append(f"information about unknown breaks: {', '.join(self.orphans)}")
        return "; ".join(parts)


def build(
    snapshot: Snapshot, plan: BuildPlan, folder: Path, progress: Progress = lambda _: None
) -> Built:
    """Build a site into a folder; return what was done."""
    check_folder(folder)
    with _without_garbage_collection():
        site = gather(snapshot, plan.settings, plan.info_folder(), plan.reports)
        with opened(folder, progress) as output:
            return write_site(site, output)


@contextmanager
def _without_garbage_collection() -> Iterator[None]:
    """Keep Python from looking for cycles: it would look at all pages again and again."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def write_site(site: SiteData, folder: Folder) -> Built:
    """Render the outdated outputs and write the files that differ."""
    before = folder.manifest
    site = dated(site, before)
    maker = maker_fingerprint()
    files: dict[str, FileFacts] = {}
    outdated: list[tuple[Output, str]] = []
    for output in all_outputs(site):
        name = _safe(output)
        facts = fingerprint(output.facts)
        known = before.files.get(name)
        if before.maker == maker and known and known.facts == facts and folder.is_intact(name):
            files[name] = known
        else:
            outdated.append((output, facts))
    with folder.staging(output.path for output, _ in outdated) as staging:
        kept = rendered([output for output, _ in outdated], staging.keep)
        changed = []
        for (output, facts), (content, is_changed) in zip(outdated, kept, strict=True):
            files[output.path] = FileFacts(facts, content)
            if is_changed:
                changed.append(output.path)
        manifest = Manifest(
            maker=maker,
            files=dict(sorted(files.items())),
            release=site.release,
            first_seen=site.first_seen,
        )
        removed = folder.update(staging, changed, manifest)
    return Built(
        breaks=len(site.breaks),
        unworded=sum(not each.worded for each in site.breaks.values()),
        files=len(files),
        rendered=len(outdated),
        written=tuple(sorted(changed)),
        removed=tuple(removed),
        problems=site.problems,
        orphans=tuple(info.file for info in site.orphans),
    )


def dated(site: SiteData, before: Manifest) -> SiteData:
    """Return the site with a date for everything that has none: the day it first appeared here."""
    names = [release.release for release in site.releases if not release.date]
    if site.upcoming is not None:
        names.append(f"{site.release}-{site.checksum}")
    if not names:
        return site
    from datetime import UTC, datetime

    today = datetime.now(UTC).date().isoformat()
    days = {name: before.first_seen.get(name, today) for name in names}
    return structs.replace(site, first_seen=days)


def _safe(output: Output) -> str:
    if output.path.startswith("/") or ".." in output.path.split("/"):
        raise ValueError(f"{output.path} is outside the site")
    return output.path
