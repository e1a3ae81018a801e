"""Outcomes as files of plain values, which a process without the program's classes can read."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import torch

from fullgraph.outcomes.observe import CallOutcome

Outcomes = dict[str, CallOutcome]
_FIELDS = [each.name for each in fields(CallOutcome)]


def save_outcomes(outcomes: Outcomes, file: Path) -> None:
    """Write the outcomes of several calls, by their names."""
    plain = {
        name: {field: getattr(outcome, field) for field in _FIELDS}
        for name, outcome in outcomes.items()
    }
    torch.save(plain, file)


def load_outcomes(file: Path) -> Outcomes:
    """Return the outcomes in a file; nothing in the file is executed."""
    plain = torch.load(file, weights_only=True)
    return {name: CallOutcome(**values) for name, values in plain.items()}
