"""What kind of thing a break is, which answers: what must I change?

A category is found from the words of the break's type, by the first rule that fits. Rules are
ordered from the particular to the general.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

ASKED_FOR = "asked-for"
DATA_DEPENDENT = "data-dependent"
EFFECTS = "effects"


class Category(NamedTuple):
    name: str
    title: str
    advice: str


CATEGORIES = (
    Category(
        DATA_DEPENDENT,
        "values and branches that depend on data",
        "Keep the value a tensor (torch.where, masks, torch.cond), read it before the compiled "
        "region, or capture it with torch._dynamo.config.capture_scalar_outputs = True.",
    ),
    Category(
        "dynamic-shapes",
        "shapes that depend on data",
        "Give the operator a fixed output size (a mask, output_size=, a padded form), or capture "
        "it with torch._dynamo.config.capture_dynamic_output_shape_ops = True.",
    ),
    Category(
        EFFECTS,
        "printing, logging and other effects",
        "Move it out of the compiled function, or let Dynamo run it between graphs: add the "
        "function to torch._dynamo.config.reorderable_logging_functions.",
    ),
    Category(
        "not-entered",
        "functions Dynamo does not enter",
        "Call it outside the compiled function, use a traceable equivalent, or wrap it as a "
        "custom operator (torch.library.custom_op).",
    ),
    Category(
        "context-managers",
        "context managers",
        "Enter the context manager outside the compiled function, or move what breaks inside it "
        "in front of the with block.",
    ),
    Category(
        "exceptions",
        "exceptions",
        "Check the condition before the compiled region, or express it as torch._check.",
    ),
    Category(
        "mutation",
        "mutation and aliasing",
        "Return the new value instead of changing an object that the caller also sees.",
    ),
    Category(
        "autograd",
        "autograd and hooks",
        "Register hooks and take gradients outside the compiled function.",
    ),
    Category(
        "subclasses",
        "tensor subclasses and modes",
        "Use a plain tensor inside the compiled function, or make the subclass traceable.",
    ),
    Category(
        "higher-order",
        "higher-order operators",
        "Make the functions given to the operator pure, with outputs of the same shapes and types.",
    ),
    Category(
        "custom-operators",
        "custom and foreign operators",
        "Register the operator with torch.library and give it a fake implementation.",
    ),
    Category(
        "distributed",
        "distributed",
        "Use the functional collectives, or keep the call outside the compiled function.",
    ),
    Category(
        ASKED_FOR,
        "asked for by the program",
        "The program asks for this break; remove the call or the decorator if it is not needed.",
    ),
    Category(
        "limits",
        "limits",
        "Find out why it is compiled so often (the recompiles below), or raise the limit.",
    ),
    Category(
        "eager-errors",
        "errors that eager would raise too",
        "Run the program without torch.compile first: it most likely fails there as well.",
    ),
    Category(
        "dynamo-bugs",
        "Dynamo's own bugs",
        "Report it to PyTorch; until then keep this code out of the compiled function.",
    ),
    Category(
        "python",
        "Python features",
        "Write it with features that Dynamo traces, or move it out of the compiled function.",
    ),
)
_BY_NAME = {category.name: category for category in CATEGORIES}

# The first rule whose pattern is found in the type decides.
RULES = (
    (ASKED_FOR, r"torch\._dynamo\.graph_break|compiler\.disable|dont_trace|step_unsupported"
                r"|forced graph break|force.*graph.break|skip_frame|marked.*skip"),
    ("limits", r"recompile limit|excessive|too many|cache.?size"),
    ("distributed", r"distributed|collective|process.?group|\bfsdp|\bddp|dtensor|rank\b"),
    ("higher-order", r"higher.?order|\bcond\b|torch\.cond|while_loop|\bhop\b|\bvmap|checkpoint"
                     r"|invoke_subgraph|associative_scan|\bscan\b|flex_attention|wrap_"),
    (DATA_DEPENDENT, r"data.dependent (branch|op|jump)|data-dependent|tensor\.item|\.tolist"
                     r"|\.item\(|\bitem\b|__bool__|nonzero_static|scalar output|\.numpy\(\)"),
    ("dynamic-shapes", r"dynamic shape|dynamic.output|unbacked|symbolic|symint|symnode"),
    (EFFECTS, r"\bprint|logging|logger|warning|reorderable|\bi/o\b|breakpoint"),
    ("subclasses", r"subclass|torch_function|torch_dispatch|\bmode\b|fake tensor subclass"),
    ("context-managers", r"context.?manager|with block|contextwrapping|__enter__|__exit__"
                         r"|setup_with"),
    ("autograd", r"autograd|backward|gradient|\bgrad\b|requires_grad|hook|inference.mode"),
    ("exceptions", r"\braise|exception|assert|\btry\b|except"),
    ("custom-operators", r"custom.?op|triton|torchbind|script.?object|opaque|\bkernel|meta implem"
                         r"|fake implem|jit\."),
    ("not-entered", r"skipped function|skip.*function|not.*(inline|enter)|builtin operator"
                    r"|builtin|c/c\+\+|c function|numpy|unsupported function call"
                    r"|attempted to (call|inline)|op returned non-tensor|wrap rnn"),
    ("mutation", r"mutat|in-?place|side.?effect|aliasing|setattr|delattr|store_attr|resize_|set_\("
                 r"|\.data\b|storage"),
    ("dynamo-bugs", r"internal|bug|reconstruction failure|missing bytecode|unreachable"),
    ("eager-errors", r"missing (required )?arg|wrong number|arguments? mismatch|invalid argument"
                     r"|type ?error|out of (range|bounds)|key ?error|attribute ?error"),
)  # fmt: skip
_FALLBACK = "python"


# One entry of the registry stands for every builtin; which one it was is in the explanation.
_PRINTS = re.compile(r"builtin operator `(print|input|open|breakpoint)`")


@cache
def category_of(type_: str, explanation: str = "") -> str:
    """The name of the category that a break belongs to."""
    text = type_.lower()
    if _PRINTS.search(explanation):
        return EFFECTS
    for category, pattern in RULES:
        if re.search(pattern, text):
            return category
    return _FALLBACK


def advice_for(category: str) -> str:
    return _BY_NAME[category].advice


def title_of(category: str) -> str:
    return _BY_NAME[category].title
