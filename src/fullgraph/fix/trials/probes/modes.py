"""Probes of modes: grad mode, inference mode, autocast, train and eval, leaves and non-leaves."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from fullgraph.fix.record.recorder import RecordedCall
from fullgraph.fix.trials.probes._probe import (
    Probe,
    tensors_of,
    with_context,
    with_tensors,
)

IS_METADATA = True


def probes(call: RecordedCall) -> Iterator[Probe]:
    """Yield calls in other modes."""
    context = call.context
    if context.grad and not context.inference:
        yield Probe(
            "gradients are disabled", "gradients are enabled", with_context(call, grad=False), True
        )
    else:
        changed = with_context(call, grad=True, inference=False)
        yield Probe("gradients are enabled", "gradients are disabled", changed, True)
    if not context.inference:
        changed = with_context(call, inference=True)
        yield Probe("inference mode", "the call is not made in inference mode", changed)
    if not context.autocast:
        changed = with_context(call, autocast={"cpu": torch.bfloat16})
        yield Probe("autocast", "autocast is off", changed, True)
    yield from _training(call)
    yield from _requires_grad(call)


def _training(call: RecordedCall) -> Iterator[Probe]:
    module = call.target.state
    if module is None:
        return
    now = any(
        part.training for part in module.modules() if not isinstance(part, torch.nn.ModuleList)
    )
    names = {True: "training mode", False: "eval mode"}
    name, assumption = f"{names[not now]}", f"the module is in {names[now]}"
    yield Probe(name, assumption, call, compiled=True, training=not now)


def _is_list(module: torch.nn.Module) -> bool:
    return isinstance(module, torch.nn.ModuleList)


def _requires_grad(call: RecordedCall) -> Iterator[Probe]:
    for argument in tensors_of(call):
        if not argument.is_float:
            continue
        name, needs = argument.name, argument.value.requires_grad
        if needs:
            changed = with_tensors(call, torch.Tensor.detach, {argument.index})
        else:
            changed = with_tensors(call, _required, {argument.index})
        if changed is None:
            continue
        probed = with_context(changed, grad=True, inference=False)
        if needs:
            yield Probe(f"`{name}` requires no gradients", f"`{name}` requires gradients", probed)
            leaf = with_context(call, grad=True, inference=False)
            computed, assumption = f"`{name}` is computed", f"`{name}` is a leaf"
            if argument.value.is_leaf:
                yield Probe(computed, assumption, leaf, computed=argument.index)
            continue
        assumption = f"`{name}` requires no gradients"
        yield Probe(f"`{name}` requires gradients", assumption, probed, compiled=True)
        computed = f"`{name}` is computed and requires gradients"
        yield Probe(computed, assumption, probed, computed=argument.index)


def _required(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().clone().requires_grad_()
