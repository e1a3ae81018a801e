"""What is known of functions that cannot be read: which are pure, and what the others do."""

from __future__ import annotations

import builtins


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Modules all of whose functions give the same result for the same arguments, and do nothing else,
# unless a table below says otherwise.
PURE_MODULES = (
    "math", "cmath", "operator", "itertools", "functools", "collections", "statistics", "string",
    "re", "bisect", "fractions", "decimal", "numbers", "typing", "dataclasses", "enum", "copy",
    "zlib", "binascii", "hashlib", "colorsys", "unicodedata", "textwrap", "fnmatch",
    "torch", "numpy", "scipy", "einops", "opt_einsum",
)  # fmt: skip

PURE_BUILTINS = _words(
    """abs all any ascii bin bool bytearray bytes callable chr complex dict divmod enumerate filter
    float format frozenset getattr hasattr hash hex int isinstance issubclass iter len list map max
    memoryview min next object oct ord pow property range repr reversed round set slice sorted
    staticmethod str sum super tuple type zip NotImplementedError ValueError TypeError KeyError
    IndexError RuntimeError AssertionError AttributeError Exception StopIteration"""
)

# What the rest of the builtins do.
BUILTIN_EFFECTS = {
    "print": "prints",
    "input": "reads from standard input",
    "open": "opens a file",
    "exec": "runs text as code",
    "eval": "runs text as code",
    "compile": "makes code",
    "breakpoint": "starts a debugger",
    "setattr": "sets an attribute",
    "delattr": "deletes an attribute",
    "globals": "gets at all globals",
    "vars": "gets at the inside of an object",
    "locals": "gets at all locals",
    "__import__": "imports a module",
}

# By the start of the full name.
EFFECTS = {
    "logging.": "logs",
    "warnings.": "warns",
    "sys.stdout": "writes to standard output",
    "sys.stderr": "writes to standard error",
    "sys.exit": "ends the program",
    "os.": "asks the operating system",
    "shutil.": "touches files",
    "subprocess.": "runs a program",
    "socket.": "uses the network",
    "threading.": "uses threads",
    "multiprocessing.": "uses processes",
    "pathlib.": "touches files",
    "pickle.": "reads or writes objects",
    "hashlib.file_digest": "reads a file",
    "gc.": "touches the garbage collector",
    "time.sleep": "waits",
    "torch.save": "writes a file",
    "torch.load": "reads a file",
    "torch.distributed.": "talks to other processes",
    "torch.manual_seed": "seeds a generator",
    "torch.seed": "seeds a generator",
    "torch.set_": "changes a setting of torch",
    "torch.use_deterministic_algorithms": "changes a setting of torch",
    "torch._dynamo.": "talks to Dynamo",
    "torch.compiler.": "talks to the compiler",
    "torch.cuda.synchronize": "waits for a device",
    "torch.cuda.empty_cache": "frees memory",
    "torch.library.": "registers operators",
    "torch.utils.cpp_extension": "builds code",
    "numpy.save": "writes a file",
    "numpy.load": "reads a file",
    "numpy.fromfile": "reads a file",
    "numpy.seterr": "changes a setting of NumPy",
    "numpy.copyto": "writes to an array",
    "numpy.put": "writes to an array",
    "scipy.io": "touches files",
    "functools.lru_cache": "keeps results",
    "functools.cache": "keeps results",
}

# What is not the same the next time.
CHANGING = {
    "random.": "draws random numbers",
    "secrets.": "draws random numbers",
    "uuid.": "draws random numbers",
    "numpy.random.": "draws random numbers",
    "torch.random.": "uses the random generator",
    "torch.Generator": "uses a random generator",
    "time.": "looks at the clock",
    "datetime.": "looks at the clock",
    "torch.initial_seed": "uses the random generator",
    "torch.empty": "has values that nobody has set",
    "numpy.empty": "has values that nobody has set",
    "torch.get_": "depends on a setting of torch",
    "torch.is_": "",
    "torch.cuda.": "depends on the device",
    "torch.backends.": "depends on a setting of torch",
    "torch.nn.functional.dropout": "draws random numbers",
    "torch.nn.functional.alpha_dropout": "draws random numbers",
    "torch.nn.functional.feature_": "draws random numbers",
    "torch.nn.functional.rrelu": "draws random numbers",
    "torch.nn.functional.gumbel_softmax": "draws random numbers",
    "torch.nn.functional.scaled_dot_product_attention": "",
    "torch.nn.init.": "draws random numbers",
}
_RANDOM_TORCH = _words(
    """rand rand_like randn randn_like randint randint_like randperm bernoulli multinomial normal
    poisson dropout alpha_dropout feature_dropout feature_alpha_dropout rrelu native_dropout"""
)
RANDOM_METHODS = _words(
    """bernoulli bernoulli_ cauchy_ exponential_ geometric_ log_normal_ multinomial normal_ random_
    uniform_"""
)
# An address is another one the next time, and there is none while tracing.
ADDRESS_METHODS = _words("data_ptr storage untyped_storage storage_offset _cdata")
# Methods of Python's containers that change them.
CHANGING_METHODS = _words(
    """append appendleft extend extendleft insert pop popleft popitem remove clear update setdefault
    sort reverse add discard difference_update intersection_update symmetric_difference_update
    rotate write writelines send throw"""
)
PURE_METHODS = _words(
    """items keys values get copy count index split join strip lstrip rstrip startswith endswith
    replace format lower upper title removeprefix removesuffix splitlines partition rpartition find
    rfind isdigit isalpha union intersection difference issubset issuperset astype bit_length
    _replace _asdict zfill encode decode tolist fromkeys"""
)


def effect_of(name: str) -> str | None:
    """What a function does besides giving a result; None for nothing that is known."""
    if "." not in name:
        return BUILTIN_EFFECTS.get(name)
    return _by_start(name, EFFECTS) or None


def change_of(name: str) -> str | None:
    """Why a function may give something else the next time."""
    head, _, last = name.rpartition(".")
    if head == "torch" and last in _RANDOM_TORCH:
        return "draws random numbers"
    return _by_start(name, CHANGING) or None


def _by_start(name: str, table: dict[str, str]) -> str:
    """The most telling entry: the one with the longest start."""
    starts = [start for start in table if name.startswith(start)]
    return table[max(starts, key=len)] if starts else ""


def is_known_pure(name: str) -> bool:
    if "." not in name:
        is_error = isinstance(getattr(builtins, name, None), type) and name.endswith("Error")
        return name in PURE_BUILTINS or is_error
    return name.partition(".")[0] in PURE_MODULES and not name.rpartition(".")[2].endswith("_")


def is_steady(name: str) -> bool:
    """Whether an attribute of a module is what it is: `math.pi`, `torch.float32`."""
    return name.partition(".")[0] in PURE_MODULES and not name.startswith("torch.backends.")


def is_pure_method(name: str) -> bool:
    """Of any object that is usual in a model: tensors, arrays, strings, containers."""
    if name in CHANGING_METHODS or name in RANDOM_METHODS or name in ADDRESS_METHODS:
        return False
    if name in PURE_METHODS:
        return True
    if name.endswith("_"):
        return name.startswith("__")
    import torch

    return hasattr(torch.Tensor, name) and name not in _CHANGING_TENSOR_METHODS


_CHANGING_TENSOR_METHODS = _words(
    "backward register_hook register_post_accumulate_grad_hook retain_grad share_memory_"
)
