"""Compiles the modules of one choice in this process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from fullgraph.capture.dynamo_hooks import is_skipped_by_rule
from fullgraph.fix.trials.compiled import trial_options
from fullgraph.where.recording import CompiledPart, Root
from fullgraph.where.report import Choice


def apply_choice(root: Root, choice: Choice, backend: str) -> Callable[..., Any]:
    """Compile what a choice says; return the function that makes a call of the root."""
    options = trial_options(root.options, backend)
    match choice.kind:
        case "whole" | "function":
            return _compiled(root.target.original, options)
        case "today":
            for part in root.effective_parts:
                _compile_part(part, trial_options(part.target.options, backend))
        case _:
            for number, path in choice.paths:
                _compile_module(root.modules[number][1].get_submodule(path), options)
    return root.target.original


def _compiled(original: Callable[..., Any], options: dict[str, Any]) -> Callable[..., Any]:
    if isinstance(original, torch.nn.Module):
        _compile_module(original, options)
        module: Callable[..., Any] = original
        return module
    compiled: Callable[..., Any] = torch.compile(original, **options)
    return compiled


def _compile_module(module: torch.nn.Module, options: dict[str, Any]) -> None:
    """Compile a module in place. Dynamo would skip `Module.compile` of torch's own modules."""
    if is_skipped_by_rule(module.forward):
        module.forward = torch.compile(module.forward, **options)
    else:
        module.compile(**options)


def _compile_part(part: CompiledPart, options: dict[str, Any]) -> None:
    original = part.target.original
    if isinstance(original, torch.nn.Module):
        _compile_module(original, options)
    else:
        part.run = torch.compile(original, **options)
