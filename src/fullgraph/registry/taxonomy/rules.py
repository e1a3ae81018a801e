"""Rules that assign a category to a break, from the words of its type.

The first rule whose pattern occurs in the type decides, so the order matters: requested breaks
first, then one subject after another from specific to general, and Python last. To correct a
wrong category, change the rule that matches too much or too little. There is no list of ids,
because a report often knows only the type.

Case is ignored, except inside `(?-i:...)`. Patterns are compiled on first use.
"""

from __future__ import annotations

from typing import NamedTuple


class Rule(NamedTuple):
    """A category and the pattern of the types that belong to it."""

    category: str
    pattern: str


RULES = (
    # Requested by the program, or by a developer who debugs Dynamo.
    Rule("user-requested", r"_dynamo\.(graph_break|skip_frame|step_unsupported|disable)"
                           r"|user-inserted|compiler\.disable|comptime|^forced? graph break"),
    # Internal messages of Dynamo: the program is correct.
    Rule("dynamo-bugs", r"missing \w+_impl override|hashability mismatch|unsupported sourcetype"
                        r"|unsupported python_type\(\) call|variable type for __dict__"
                        r"|source\.reconstruct not implemented|unconverted argument|unreachable"
                        r"|sourceless builder|without its fake value|missing faketensor example"
                        r"|backend compiler|internal error|frame builtins|nullvariable|bad flags"
                        r"|inline attempt with __self__|fold exception|getattr with no source"
                        r"|unimplemented next\(\) call|cannot determine type of argument"
                        r"|^proxy not set"),
    # Limits of Dynamo, and places where it cannot resume after a break.
    Rule("limits", r"(recompile|cache|size|iteration|depth) limit|excessive|too many|infinite gen"
                   r"|graph break in (loop|inlined)|timed? ?out"),
    # Operators from outside Python. Their messages share words with later rules.
    Rule("custom-operators", r"triton|tma_descriptor|torchscript|script ?(object|module)|torch\.jit"
                             r"|jit_function|torchbind|opaque|custom.?op|pt2-compliant"
                             r"|op packet|running with fake tensors|running fx node"
                             r"|nonstrict_trace|leaf_function|allow_in_graph"
                             r"|assume_constant_result|pytree\.register"),
    Rule("distributed", r"distributed|collective|process.?group|device.?mesh|fsdp|\bddp|\bdtensor"
                        r"|placement|p2p|isend|async_op|\brank\b"),
    Rule("subclasses", r"subclass (default|overridden|attribute|method)|tensor subclass"
                       r"|`as_subclass`|__torch_(function|dispatch)__|sparse tensor"
                       r"|torch.(function|dispatch) mode|nested_?tensor|fake tensor propagation"),
    # Messages of higher-order operators start with the operator: "torch.cond: ...".
    Rule("higher-order", r"higher.?order|\bhops?\b|invoke_subgraph|functorc?h|torch\.func\b|\bvmap"
                         r"|torch\.(cond|switch|while_loop|scan|associative_scan|map)\b|wrap_with_"
                         r"|^[\w.]+: (improper|unsupported|unexpected|mismatch|kwargs|\w+ mutates)"
                         r"|hints_wrapper|executorch|flex_|flexattention|meta_consistency"
                         r"|set_subgraph_inputs|single tensor return|^checkpoint"),
    Rule("autograd", r"autograd(?!\._unsafe)|backward|gradient|\bgrad\b|grad_|_grad|hook"
                     r"|removablehandle|is_inference|imperativeengine|\b[jv][jv]p\b|dual tensor"
                     r"|forward.mode|nn\.parameter|parameter construction|strict mode"),
    # Shapes before values: a data-dependent output shape belongs to shapes.
    Rule("dynamic-shapes", r"dynamic shape|output shape|unbacked|symint|symnode|guard_scalar"
                           r"|symbolic(?! shapes$)|torch\.size element"),
    Rule("data-dependent", r"data.dependent|\.item\(|\.tolist\(|slicing with tensor|_gb_type"
                           r"|index\(tensor\)|repr\(\) on tensor|list_richcompare_nonconst"
                           r"|\b(sort\w*|min|max) with non-const"),
    Rule("side-effects", r"logging|logger|\bprint|\bwarnings?\b|reorder|breakpoint"
                         r"|torch\.generator|rng|deterministic_algorithms|\bstd(in|out|err)"
                         r"|\bfile\b|\btime function|clock"),
    Rule("context-managers", r"context ?manager|contextlib|contextwrapping|record_function"
                             r"|escaped from compiled region|`?with`? (block|statement)"
                             r"|__(enter|exit)__|use_mem_pool"),
    # Programs that fail in eager mode too: words for a failure, not for a missing feature.
    Rule("eager-errors", r"(type|runtime|value|key|attribute|index|name)error|device mismatch"
                         r"|undefined|uninitialized|deleted variable|not found in|numpy unavailable"
                         r"|without numpy|import failure|failed to (broadcast|bind)|sdpaparams"
                         r"|non-scalar tensor|assertion failed on|could not find name"
                         r"|length mismatch|missing (args|attribute when)|arguments to torch\."
                         r"|\b(bad|improper) (device |torch\S+ )?arg"
                         r"|^(?!unimplemented).*with no arguments"),
    Rule("exceptions", r"exception|\braise|\bassert|torch\._check|traceback|\bexcept\b"),
    # Functions that Dynamo does not trace into and cannot record as one operation.
    Rule("untraced-calls", r"numpy|ndarray|(marked as|a) skipped|(rnn|gru|lstm)\b|builtin op"
                        r"|not implemented in python|function call|op returned|deepcopy|unittest"
                        r"|event method|\bstream\b|tensor\.\w+ op|tensor (comparison|method)"
                        r"|args/kwargs to proxy|elementwise_dtypes|torch\.compile call|_ntuple"
                        r"|torch\.(cuda|xpu|mps|accelerator)\b"),
    Rule("mutation", r"out= |`out=`|\bmutation\b|tensor (data )?attribute|data pointer"
                     r"|alias|storage|tensor\.\w*(resize|set|share_memory)\w*\(|in-?place op"
                     r"|(?-i:STORE_(ATTR|GLOBAL))|__class__ assignment|(?<!non-const )setattr"
                     r"|__setattr__/|descriptor delete|side effect on|write to|\bcow\b"),
    # Python itself: objects, classes, containers, iterators and bytecode.
    Rule("python", r"__\w+__|(\b|_)(tp|sq|mp|nb)_|_impl\b"
                   r"|(?-i:\b[A-Z]{3,}_[A-Z]{2})|bytecode|(?-i:SEND)|unpack|variadic"
                   r"|generator|comprehension|itertools|\biter|next\("
                   r"|\b(dict|list|set|tuple|deque|range|slice|str|bytes|bytearray|int|float)\b"
                   r"|mapping ?proxy|dict_keys|namedtuple|typeddict|namespace|contextvar"
                   r"|\b(repr|id|hash|len|cast|vars|type|sort|super|isinstance|issubclass)\b"
                   r"|attribute|getattr|hasattr|setattr|metaclass|descriptor|method\b|\bobject"
                   r"|\bclass(es|method)?\b|user.defined|dataclass|enum\b|pydantic|nn\.?module"
                   r"|functools|inspect|import|typing|closure|\bcell|weakref|callable"
                   r"|constant|length_hint|compar|reconstruct|call_id|real value|_signature"),
)  # fmt: skip

# A type that no rule matches is usually a Python feature that Dynamo does not model yet.
OTHERWISE = "python"

# These types stand for any function, method or operator; the explanation names it.
STANDS_FOR_MANY = (
    r"builtin operator|marked as skipped|^unsupported (function|method) call|fake tensor call"
)
NO_FAKE = r"no fake impl|register_fake"
NAMED = (
    # Reading the file system or the machine has no side effect.
    Rule("side-effects", r"`(print|input|open|breakpoint|exec)`"
                    r"|`_?(warnings|time|datetime|sys|io|gc|signal|socket|subprocess)\."
                    r"|`(posix|nt)\.(?!l?stat|access|listdir|scandir|readlink|get|cpu_count|uname)"
                    r"|`(\w+\.)?(manual_)?seed`|class `\w*(IO|Logger|Writer)"
                    r"|in file `[^`]*\b(logging|warnings|pdb|tqdm|random)\b"),
    Rule("distributed", r"`torch\.distributed|in file `[^`]*torch.distributed|class `ProcessGroup"),
    # Without a fake implementation, a correct operator fails on fake tensors.
    Rule("custom-operators", NO_FAKE),
)  # fmt: skip
