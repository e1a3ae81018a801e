"""Settings as data, in effect, and as statements of a program."""

from __future__ import annotations

import logging

import torch
import torch._dynamo.config as config

from fullgraph.fix.runtime.dynamo_config import config_imports, config_statements, dynamo_config

FUNCTIONS = ["builtins:print", "logging:Logger.info", "warnings:warn"]


def test_settings_are_statements_with_their_imports() -> None:
    assert config_statements({}) == []
    assert config_imports({}) == ["import torch._dynamo"]
    settings = {
        "reorderable_logging_functions": FUNCTIONS,
        "capture_scalar_outputs": True,
        "ignore_logging_functions": ["logging:Logger.info"],
        "recompile_limit": 20,
    }
    assert config_statements(settings) == [
        "torch._dynamo.config.capture_scalar_outputs = True",
        "torch._dynamo.config.ignore_logging_functions.add(logging.Logger.info)",
        "torch._dynamo.config.recompile_limit = 20",
        "torch._dynamo.config.reorderable_logging_functions.add(print)",
        "torch._dynamo.config.reorderable_logging_functions.add(logging.Logger.info)",
        "torch._dynamo.config.reorderable_logging_functions.add(warnings.warn)",
    ]
    assert config_imports(settings) == [
        "import logging",
        "import torch._dynamo",
        "import warnings",
    ]
    scope: dict[str, object] = {"torch": torch}
    with dynamo_config(settings):
        exec("\n".join([*config_imports(settings), *config_statements(settings)]), scope)


def test_settings_are_in_effect_until_the_end_of_the_block() -> None:
    before = (config.capture_scalar_outputs, set(config.reorderable_logging_functions))
    settings = {"capture_scalar_outputs": not before[0], "reorderable_logging_functions": FUNCTIONS}
    with dynamo_config(settings):
        assert config.capture_scalar_outputs is not before[0]
        assert {print, logging.Logger.info} <= config.reorderable_logging_functions
    assert (config.capture_scalar_outputs, config.reorderable_logging_functions) == before
    with dynamo_config({}):
        assert config.capture_scalar_outputs is before[0]
