"""Every example of the catalog, run on the installed torch.

An example that passed is not run again while neither it, nor the code that verifies it, nor torch
has changed: pytest's cache remembers the verdict, which is never committed. `.ci/run` sets
FULLGRAPH_ALL_EXAMPLES, which runs every example.
"""

from __future__ import annotations

import hashlib
import os
import platform
import warnings
from functools import cache
from pathlib import Path

import pytest
import torch

import fullgraph
from fullgraph.catalog.parse import example_ids, read_example
from fullgraph.catalog.verify import verify
from fullgraph.installed_torch import release_of

_SOURCE = Path(fullgraph.__file__).parent
# The code that a verdict depends on.
_VERIFIER = ("analysis", "capture", "catalog", "model", "outcomes")


@cache
def verifier() -> bytes:
    """Return a digest of the verifying code, torch and Python."""
    digest = hashlib.sha256(f"{torch.__version__} {platform.python_version()}".encode())
    for package in _VERIFIER:
        for file in sorted((_SOURCE / package).rglob("*.py")):
            if file.parent.name != "entries":
                digest.update(file.read_bytes())
    return digest.digest()


def fingerprint(identifier: str) -> str:
    """Return what a verdict of an example depends on."""
    entry = _SOURCE / "catalog" / "entries" / f"{identifier.lower()}.py"
    return hashlib.sha256(verifier() + entry.read_bytes()).hexdigest()


@pytest.mark.parametrize("identifier", example_ids())
def test_the_example_does_what_it_claims(identifier: str, pytestconfig: pytest.Config) -> None:
    assert pytestconfig.cache is not None
    key = f"fullgraph/catalog/{identifier}"
    is_known = pytestconfig.cache.get(key, None) == fingerprint(identifier)
    if is_known and "FULLGRAPH_ALL_EXAMPLES" not in os.environ:
        return
    example = read_example(identifier)
    assert example is not None
    first, last = (release_of(release) for release in example.releases)
    failures = verify(identifier).failures
    if first <= release_of(torch.__version__) <= last:
        assert failures == ()
        pytestconfig.cache.set(key, fingerprint(identifier))
    elif failures:
        warnings.warn(f"{identifier} is not verified for this torch: {failures}", stacklevel=1)
