"""Code objects that Dynamo makes may have constants that cannot be hashed."""

from __future__ import annotations

from collections.abc import Callable

import torch

from fullgraph.model.report import Report


def test_a_comprehension_that_breaks_and_resumes_is_captured_whole(
    compiled_call: Callable[..., Report],
) -> None:
    def attention(a: torch.Tensor, b: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        parts = [torch.split(each, lengths.tolist()) for each in (a + 1, b)]
        return parts[0][0].sum() + parts[1][0].sum()

    def twice(a: torch.Tensor, b: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        return attention(a, b, lengths) + attention(a, b, lengths)

    report = compiled_call(twice, torch.ones(6), torch.ones(6), torch.tensor([1, 2, 3]))
    assert report.problems == ()
    assert report.summary.sites == 1
    # A compile without a start time would seem to take as long as the machine has been running.
    assert report.summary.compile_seconds < 1000
