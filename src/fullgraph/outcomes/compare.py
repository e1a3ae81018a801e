"""Compare the outcomes of two calls: what counts as equal, and a reason if they are not."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Literal

import torch

from fullgraph.outcomes import OUTPUT_DIFFERS
from fullgraph.outcomes.observe import NO_GRADIENT, CallOutcome, Leaf

# How much of an exception must be equal: only that there is one, its type, or its message too; with
# "own", the message of one that the program itself raises, and otherwise the type.
SameError = Literal["any", "type", "own", "message"]

_MAX_SHOWN = 60
_TOLERANCE = {torch.float64: 1e-7, torch.float32: 1e-4, torch.bfloat16: 2e-2, torch.float16: 5e-3}


@dataclass
class Comparison:
    """How two outcomes differ; they are equal if `problems` is empty."""

    problems: list[str] = field(default_factory=list)
    # The largest difference between two floating-point numbers.
    largest: float = 0.0
    # The number of gradients that are zero instead of None, and whether they are allowed.
    zeros: int = 0
    allow_zeros: bool = False


def compare_outcomes(
    before: CallOutcome,
    after: CallOutcome,
    *,
    exact: bool,
    effects: str = "exact",
    allow_zeros: bool = False,
    same_error: SameError | None = None,
) -> Comparison:
    """Return how `after` differs from `before`.

    With `exact`, tensors and numbers are compared bit for bit; otherwise up to rounding. `effects`
    is the safety that a fix claims: it says whether output lines may be reordered or dropped.
    `allow_zeros` allows a gradient of zero instead of None: backends that trace the backward pass
    return zeros for tensors that have no part in the loss. `same_error` is "message" by default if
    `exact`, and otherwise "any".
    """
    found = Comparison(allow_zeros=allow_zeros)
    if before.raised or after.raised:
        problem = _error_problem(before, after, same_error or ("message" if exact else "any"))
        found.problems += [problem] if problem else []
    else:
        for what in ("outputs", "gradients"):
            _compare_leaves(getattr(before, what), getattr(after, what), what, exact, found)
    for what in ("inputs", "state"):
        _compare_leaves(getattr(before, what), getattr(after, what), what, exact, found)
    if not same_output(before.output, after.output, effects):
        found.problems.append(f"{OUTPUT_DIFFERS}: {_first_difference(before, after)}")
    return found


def same_output(before: list[str], after: list[str], effects: str) -> bool:
    """Return whether the output lines are equal, for a fix that claims the safety `effects`."""
    if effects == "dropped":
        return all(line in before for line in after)
    if effects == "reordered":
        return sorted(before) == sorted(after)
    return before == after


def _first_difference(before: CallOutcome, after: CallOutcome) -> str:
    lost = [line for line in before.output if line not in after.output]
    new = [line for line in after.output if line not in before.output]
    return f"lost {lost[:1]}" if lost else f"new {new[:1]}" if new else "another order"


def _error_problem(before: CallOutcome, after: CallOutcome, same: SameError) -> str:
    if not before.raised:
        return f"raises {after.raised}: {next(iter(after.message.strip().splitlines()), '')}"
    if not after.raised:
        return f"no longer raises {before.raised}"
    if same == "own":
        same = "message" if before.is_own_error else "type"
    equal = {
        "any": True,
        "type": before.raised == after.raised,
        "message": (before.raised, before.message) == (after.raised, after.message),
    }
    if equal[same]:
        return ""
    if before.raised == after.raised:
        return f"raises {after.raised} with another message"
    return f"raises {after.raised} instead of {before.raised}"


def _compare_leaves(
    before: dict[str, Leaf], after: dict[str, Leaf], what: str, exact: bool, found: Comparison
) -> None:
    if before.keys() != after.keys():
        odd = sorted(before.keys() ^ after.keys())[0]
        found.problems.append(f"{what}: {odd or 'the result'} is only on one side")
        return
    for path, old in before.items():
        problem = _leaf_problem(old, after[path], exact, found)
        if problem:
            separator = "" if path[:1] in ("", ".", ":") else " "
            found.problems.append(f"{what}{separator}{path}: {problem}")


def _leaf_problem(old: Leaf, new: Leaf, exact: bool, found: Comparison) -> str:
    if isinstance(old, torch.Tensor) and isinstance(new, torch.Tensor):
        return _tensor_problem(old, new, exact, found)
    if isinstance(old, str) and isinstance(new, str) and _same_text(old, new, exact):
        return ""
    if found.allow_zeros and isinstance(old, str) and old == NO_GRADIENT and _is_zero(new):
        found.zeros += 1
        return ""
    return f"{_short(new)} instead of {_short(old)}"


def _is_zero(leaf: Leaf) -> bool:
    return isinstance(leaf, torch.Tensor) and not bool(leaf.any())


def _short(leaf: Leaf) -> str:
    if isinstance(leaf, torch.Tensor):
        return f"a tensor of shape {tuple(leaf.shape)}"
    return leaf if len(leaf) <= _MAX_SHOWN else f"{leaf[: _MAX_SHOWN - 1]}…"


def _is_integer(text: str) -> bool:
    return text.lstrip("-").isdigit()


def _same_text(old: str, new: str, exact: bool) -> bool:
    if old == new:
        return True
    if exact or _is_integer(old) or _is_integer(new):
        return False
    try:
        return math.isclose(float(old), float(new), rel_tol=1e-4, abs_tol=1e-6)
    except ValueError:
        return False


def _tensor_problem(old: torch.Tensor, new: torch.Tensor, exact: bool, found: Comparison) -> str:
    if old.layout != new.layout:
        return f"{new.layout} instead of {old.layout}"
    if old.layout != torch.strided:
        old, new = old.to_dense(), new.to_dense()
    if old.shape != new.shape:
        return f"shape {tuple(new.shape)} instead of {tuple(old.shape)}"
    if old.dtype != new.dtype:
        return f"{new.dtype} instead of {old.dtype}"
    if old.numel() == 0 or _identical(old, new):
        return "another sign of zero" if exact and not _same_signs(old, new) else ""
    if not (old.dtype.is_floating_point or old.dtype.is_complex):
        return "other values"
    if not torch.equal(old.isnan(), new.isnan()):
        return "NaN in other places"
    return _rounding_problem(old, new, exact, found)


def _rounding_problem(old: torch.Tensor, new: torch.Tensor, exact: bool, found: Comparison) -> str:
    difference = (old - new).abs().nan_to_num(0.0)
    largest = float(difference.max())
    found.largest = max(found.largest, largest)
    limit = _TOLERANCE.get(old.dtype, 1e-4)
    scale = old.abs().nan_to_num(0.0, 0.0, 0.0).double()
    if exact or bool((difference.double() > limit * (1 + scale)).any()):
        return f"differs by up to {largest:.3g}"
    return ""


def _same_signs(old: torch.Tensor, new: torch.Tensor) -> bool:
    if not old.dtype.is_floating_point:
        return True
    return bool(((old.signbit() == new.signbit()) | old.isnan()).all())


def _identical(old: torch.Tensor, new: torch.Tensor) -> bool:
    if old.dtype.is_floating_point or old.dtype.is_complex:
        return bool(torch.isclose(old, new, rtol=0, atol=0, equal_nan=True).all())
    return bool(torch.equal(old, new))


def without_new_attributes(
    before: CallOutcome, after: CallOutcome
) -> tuple[CallOutcome, tuple[str, ...]]:
    """Return `after` without plain attributes of modules that `before` lacks, and their names.

    New parameters and buffers are tensors, and stay.
    """
    added = [
        path
        for path, leaf in after.state.items()
        if path not in before.state and not _is_tensor(leaf)
    ]
    kept = {path: leaf for path, leaf in after.state.items() if path not in added}
    return replace(after, state=kept), tuple(added)


def _is_tensor(leaf: Leaf) -> bool:
    # Outcomes in text form describe tensors like this.
    return isinstance(leaf, torch.Tensor) or leaf.startswith("tensor ")


def metadata_problems(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """Return what differs between the metadata of two outcomes."""
    return [
        f"{name}: {after[name]} instead of {value}"
        for name, value in before.items()
        if name in after and after[name] != value
    ]
