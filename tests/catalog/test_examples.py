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
from fullgraph.catalog.parse import example_keys, read_example
from fullgraph.catalog.verdicts import verdicts, verdicts_of
from fullgraph.catalog.verify import verify
from fullgraph.registry.releases import base_of

# Every example of the catalog is written for this release.
EVERYDAY = "2.13.0"
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


def fingerprint(key: str) -> str:
    """Return what a verdict of an example depends on."""
    entry = _SOURCE / "catalog" / "entries" / f"{key.lower()}.py"
    return hashlib.sha256(verifier() + entry.read_bytes()).hexdigest()


@pytest.mark.parametrize("key", example_keys())
def test_the_example_does_what_it_claims(key: str, pytestconfig: pytest.Config) -> None:
    assert pytestconfig.cache is not None
    name = f"fullgraph/catalog/{key}"
    is_known = pytestconfig.cache.get(name, None) == fingerprint(key)
    if is_known and "FULLGRAPH_ALL_EXAMPLES" not in os.environ:
        return
    result = verify(key)
    release = base_of(torch.__version__)
    if release == EVERYDAY:
        assert result.failures == ()
        assert verdicts_of(key)[release] == result.verdict
        pytestconfig.cache.set(name, fingerprint(key))
    # On other releases a verdict can depend on Python and on the build of torch.
    elif verdicts_of(key).get(release) != result.verdict:
        warnings.warn(f"{key} is not recorded like this: {result.failures}", stacklevel=1)


def test_the_recorded_verdicts_cover_every_example() -> None:
    recorded = verdicts()
    assert {"2.9.1", EVERYDAY, "2.15.0"} <= set(recorded)
    for release, found in recorded.items():
        assert sorted(found) == example_keys(), release
    assert {verdict.outcome for verdict in recorded[EVERYDAY].values()} == {"holds"}


def test_verdicts_name_fixes_that_exist() -> None:
    for found in verdicts().values():
        for key, verdict in found.items():
            example = read_example(key)
            assert example is not None
            assert set(verdict.fixes) <= {fix.name for fix in example.fixes}
            assert bool(verdict.fixes) == (verdict.outcome == "fix_fails")
