"""Every example of the catalog, run on the torch that is installed."""

from __future__ import annotations

import warnings

import pytest
import torch

from fullgraph.catalog.parse import example_ids, read_example
from fullgraph.catalog.verify import verify
from fullgraph.installed_torch import release_of


@pytest.mark.parametrize("identifier", example_ids())
def test_the_example_does_what_it_claims(identifier: str) -> None:
    example = read_example(identifier)
    assert example is not None
    first, last = (release_of(release) for release in example.releases)
    failures = verify(identifier).failures
    if first <= release_of(torch.__version__) <= last:
        assert failures == ()
    elif failures:
        warnings.warn(f"{identifier} is not known for this torch: {failures}", stacklevel=1)
