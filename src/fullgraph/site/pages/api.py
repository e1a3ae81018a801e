"""The JSON API and its schema."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from msgspec import json

from fullgraph.site.api import (
    FORMAT,
    BreakFile,
    BreakSummary,
    CategorySummary,
    IndexFile,
    ReleaseSummary,
    api_path,
    break_file,
    index_file,
)
from fullgraph.site.model import SiteData
from fullgraph.site.pages import Output


def outputs(site: SiteData) -> Iterator[Output]:
    """Yield the JSON files."""
    index = index_file(site)
    yield Output("api/index.json", index, partial(_encoded, index))
    for each in site.breaks.values():
        content = break_file(each)
        yield Output(api_path(each.id), content, partial(_encoded, content))
    yield Output("api/schema.json", FORMAT, _schema)


def _encoded(value: object) -> bytes:
    return json.encode(value) + b"\n"


def _schema() -> bytes:
    """Return one schema for both files, which differ in their fields."""
    kinds = (IndexFile, BreakFile, BreakSummary, ReleaseSummary, CategorySummary)
    _, parts = json.schema_components(kinds, ref_template="#/$defs/{name}")
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "The JSON API of a site of graph breaks",
        "anyOf": [{"$ref": "#/$defs/IndexFile"}, {"$ref": "#/$defs/BreakFile"}],
        "$defs": parts,
    }
    return json.format(json.encode(schema), indent=2) + b"\n"
