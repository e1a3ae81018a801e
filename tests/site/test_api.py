"""Machine-readable files: JSON, the feed and the sitemap."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import msgspec
from msgspec.structs import replace

from fullgraph.registry.taxonomy import RENAMED
from fullgraph.site.api import BreakFile, IndexFile
from fullgraph.site.build import write_site
from fullgraph.site.model import SiteData
from fullgraph.site.output import MANIFEST, opened
from fullgraph.site.pages.redirects import redirect_paths
from tests.site.sitekit import Registry, rebuild

ATOM = "{http://www.w3.org/2005/Atom}"
MAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


def test_the_index_and_the_files_of_breaks_are_complete(
    built: Path, installed_site: SiteData
) -> None:
    index = msgspec.json.decode((built / "api/index.json").read_bytes(), type=IndexFile)
    assert [each.id for each in index.breaks] == list(installed_site.breaks)
    for each in index.breaks:
        assert (built / each.page).is_file()
        one = msgspec.json.decode((built / each.api).read_bytes(), type=BreakFile)
        assert (one.id, one.type, one.status) == (each.id, each.type, each.status)
    example = msgspec.json.decode((built / "api/gb/GB0124.json").read_bytes(), type=BreakFile)
    page = installed_site.breaks["GB0124"].page
    assert (example.hints, example.call_sites) == (page.hints, page.call_sites)
    assert example.example is not None
    assert example.example.fixes


def conforms(value: Any, schema: dict[str, Any], parts: dict[str, Any]) -> bool:
    """Check a value against the parts of JSON Schema that our schema uses."""
    known = {
        "$ref", "anyOf", "type", "enum", "properties", "required", "items", "prefixItems",
        "minItems", "maxItems", "title", "description",
    }  # fmt: skip
    assert set(schema) <= known, set(schema) - known
    if "$ref" in schema:
        return conforms(value, parts[schema["$ref"].rsplit("/", 1)[-1]], parts)
    if "anyOf" in schema:
        return any(conforms(value, each, parts) for each in schema["anyOf"])
    if "enum" in schema:
        return value in schema["enum"]
    kind = schema["type"]
    if kind == "object":
        properties = schema["properties"]
        return (
            isinstance(value, dict)
            and set(schema.get("required", ())) <= set(value) <= set(properties)
            and all(conforms(value[name], properties[name], parts) for name in value)
        )
    if kind == "array":
        first = schema.get("prefixItems", [])
        rest = schema.get("items")
        return isinstance(value, list) and all(
            conforms(each, first[n] if n < len(first) else rest, parts)
            for n, each in enumerate(value)
        )
    kinds = {"string": str, "integer": int, "boolean": bool, "null": type(None)}
    return type(value) is kinds[kind]


def test_every_file_fits_the_schema(built: Path) -> None:
    schema = json.loads((built / "api/schema.json").read_bytes())
    parts = schema["$defs"]
    index = json.loads((built / "api/index.json").read_bytes())
    assert conforms(index, parts["IndexFile"], parts)
    assert not conforms(index, parts["BreakFile"], parts)
    for file in sorted((built / "api" / "gb").glob("*.json"))[::7]:
        assert conforms(json.loads(file.read_bytes()), parts["BreakFile"], parts), file.name


def check_feed(file: Path) -> list[ET.Element]:
    """Check the rules of Atom, and that links lead to pages."""
    feed = ET.parse(file).getroot()
    assert feed.tag == f"{ATOM}feed"
    entries = feed.findall(f"{ATOM}entry")
    ids = [element.text or "" for element in feed.iter(f"{ATOM}id")]
    assert len(ids) == len(set(ids)) == len(entries) + 1
    assert all(re.match(r"https?://|tag:[\w.]+,\d{4}:", each) for each in ids)
    assert feed.findtext(f"{ATOM}author/{ATOM}name")
    dates = [element.text or "" for element in feed.iter(f"{ATOM}updated")]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT00:00:00Z", each) for each in dates)
    assert dates[0] == max(dates)
    for entry in entries:
        assert entry.findtext(f"{ATOM}title")
        link = entry.find(f"{ATOM}link")
        assert link is not None
        content = entry.findtext(f"{ATOM}content") or ""
        for href in [link.get("href") or "", *re.findall(r'href="([^"]+)"', content)]:
            path = href.removeprefix("https://example.org/breaks/")
            assert (file.parent / path).is_file(), href
    return entries


def test_the_feed_has_every_release(built: Path, installed_site: SiteData) -> None:
    entries = check_feed(built / "feed.xml")
    assert len(entries) == len(installed_site.releases)
    titles = [entry.findtext(f"{ATOM}title") or "" for entry in entries]
    assert titles[0].startswith("torch 2.15.0: 31 new")


def test_a_registry_that_is_no_release_is_in_the_feed_with_the_day_it_was_met(
    tmp_path: Path, registry: Registry
) -> None:
    folder, file = tmp_path / "site", tmp_path / "registry.json"
    registry["GB9990"] = [{**registry["GB0124"][0], "Gb_type": "Cannot <juggle> & \x0bsing"}]
    file.write_text(json.dumps(registry))
    rebuild(folder, release=str(file))
    manifest = json.loads((folder / MANIFEST).read_bytes())
    (name,) = manifest["first_seen"]
    manifest["first_seen"][name] = "2026-11-01"
    (folder / MANIFEST).write_text(json.dumps(manifest))
    rebuild(folder, release=str(file))
    first = check_feed(folder / "feed.xml")[0]
    assert first.findtext(f"{ATOM}updated") == "2026-11-01T00:00:00Z"
    assert "Cannot &lt;juggle&gt; &amp;  sing" in (first.findtext(f"{ATOM}content") or "")
    index = json.loads((folder / "api/index.json").read_bytes())
    assert "GB9990" in index["upcoming"]["new"]
    parts = json.loads((folder / "api/schema.json").read_bytes())["$defs"]
    assert conforms(index, parts["IndexFile"], parts)


def test_the_sitemap_lists_every_page(built: Path, installed_site: SiteData) -> None:
    address = "https://example.org/breaks/"
    settings = replace(installed_site.settings, address=address)
    with opened(built) as folder:
        write_site(replace(installed_site, settings=settings), folder)
    root = ET.parse(built / "sitemap.xml").getroot()
    listed = {element.text or "" for element in root.iter(f"{MAP}loc")}
    pages = {file.relative_to(built).as_posix() for file in built.rglob("*.html")} - {"404.html"}
    pages -= {f"categories/{old}.html" for old in RENAMED}
    pages -= {path for identifier in installed_site.breaks for path in redirect_paths(identifier)}
    assert listed == {urljoin(address, page) for page in pages}
    assert not (built / "robots.txt").exists()  # search engines read it only at the root of a host
    assert len(check_feed(built / "feed.xml")) == len(installed_site.releases)


def test_a_site_at_the_top_of_a_host_has_a_robots_file(
    built: Path, installed_site: SiteData
) -> None:
    settings = replace(installed_site.settings, address="https://example.org/")
    with opened(built) as folder:
        write_site(replace(installed_site, settings=settings), folder)
    assert "Sitemap: https://example.org/sitemap.xml" in (built / "robots.txt").read_text()
