"""A model of the zoo, which is imported from the folder on `PYTHONPATH`."""

from __future__ import annotations

from typing import Any

import torch
import transformers
import zoo_sweep


def build_model(name: str) -> tuple[Any, dict[str, Any]]:
    """Return a tiny model with random weights in evaluation mode, and inputs that fit it."""
    torch.manual_seed(0)
    config = zoo_sweep.build_config(name)
    model = getattr(transformers, name)(config).eval()
    inputs = zoo_sweep.build_inputs(name, model, config)
    inputs, _ = zoo_sweep.eager_with_repair(name, model, config, inputs)
    return model, inputs
