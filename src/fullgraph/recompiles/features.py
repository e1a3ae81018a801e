"""What the installed torch offers, read from its source: importing it would take seconds."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from fullgraph.installed_torch import torch_folder

# From a feature to a file of torch and a pattern that the file has if torch has the feature.
_FEATURES = {
    "dynamic_sources": ("compiler/config.py", r"^dynamic_sources\b"),
    "dynamic_sources:N": ("compiler/config.py", r"``:N`` suffix"),
    "dynamic_values": ("compiler/config.py", r"^dynamic_values\b"),
    "unbacked_sources": ("compiler/config.py", r"^unbacked_sources\b"),
    "unbacked_sources:N": ("compiler/config.py", r"``:N`` per-dim suffix"),
    "mark_unbacked": ("_dynamo/decorators.py", r"^def mark_unbacked\("),
    "maybe_mark_dynamic": ("_dynamo/decorators.py", r"^def maybe_mark_dynamic\("),
    "specialize_on": ("_dynamo/decorators.py", r"^    specialize_on: "),
    "recompile_limit=": ("__init__.py", r"^    recompile_limit: "),
    "isolate_recompiles=": ("__init__.py", r"^    isolate_recompiles: "),
    "shapes_spec=": ("__init__.py", r"^    shapes_spec: "),
    "dynamic_shapes=": ("__init__.py", r"^    dynamic_shapes: "),
    "static_sources": ("compiler/config.py", r"^static_sources\b"),
    "allow_unspec_int_on_nn_module": ("_dynamo/config.py", r"^allow_unspec_int_on_nn_module\b"),
    "force_parameter_static_shapes": ("_dynamo/config.py", r"^force_parameter_static_shapes\b"),
    "accumulated_recompile_limit": ("_dynamo/config.py", r"^accumulated_recompile_limit\b"),
    "eager_then_compile": ("_dynamo/eval_frame.py", r"\"eager_then_compile\""),
    "nested_compile_region": ("compiler/__init__.py", r"^def nested_compile_region\("),
    "skip_guard_on_globals_unsafe": (
        "compiler/__init__.py",
        r"^def skip_guard_on_globals_unsafe\(",
    ),
    "skip_guard_on_all_nn_modules_unsafe": (
        "compiler/__init__.py",
        r"^def skip_guard_on_all_nn_modules_unsafe\(",
    ),
    "keep_tensor_guards_unsafe": ("compiler/__init__.py", r"^def keep_tensor_guards_unsafe\("),
    "skip_guard_eval_unsafe": ("compiler/__init__.py", r"skip_guard_eval_unsafe: bool"),
    "pgo": ("compiler/config.py", r"TORCH_COMPILE_JOB_ID"),
}


def has_feature(name: str) -> bool:
    """Return whether the installed torch has a feature of the table."""
    file, pattern = _FEATURES[name]
    return re.search(pattern, _text(file), re.MULTILINE) is not None


@cache
def _text(file: str) -> str:
    folder = torch_folder()
    try:
        return (Path(folder) / file).read_text("utf-8") if folder is not None else ""
    except OSError:
        return ""
