"""The table of functions and methods whose purity is known without reading their source."""

from __future__ import annotations

import builtins

from fullgraph.fix.source.torch_ops import RANDOM, words

# All functions of these modules are pure, unless a table below has an entry for the function.
PURE_MODULES = (
    "math", "cmath", "operator", "itertools", "functools", "collections", "statistics", "string",
    "re", "bisect", "fractions", "decimal", "numbers", "typing", "dataclasses", "enum", "copy",
    "zlib", "binascii", "hashlib", "colorsys", "unicodedata", "textwrap", "fnmatch",
    "torch", "numpy", "scipy", "einops", "opt_einsum",
)  # fmt: skip

PURE_BUILTINS = words(
    """abs all any ascii bin bool bytearray bytes callable chr complex dict divmod enumerate filter
    float format frozenset getattr hasattr hash hex int isinstance issubclass iter len list map max
    memoryview min next object oct ord pow property range repr reversed round set slice sorted
    staticmethod str sum super tuple type zip NotImplementedError ValueError TypeError KeyError
    IndexError RuntimeError AssertionError AttributeError Exception StopIteration"""
)

BUILTIN_SIDE_EFFECTS = {
    "print": "prints",
    "input": "reads from standard input",
    "open": "opens a file",
    "exec": "executes a string as code",
    "eval": "executes a string as code",
    "compile": "compiles a string to code",
    "breakpoint": "starts a debugger",
    "setattr": "sets an attribute",
    "delattr": "deletes an attribute",
    "globals": "gives access to all globals",
    "vars": "gives access to all attributes of an object",
    "locals": "gives access to all locals",
    "__import__": "imports a module",
}

_IN_PLACE_OPERATORS = words(
    """iadd iand iconcat ifloordiv ilshift imatmul imod imul ior ipow irshift isub itruediv ixor"""
)

# From the start of a qualified name to the side effect; the longest match counts.
SIDE_EFFECTS = {
    "logging.": "logs",
    "warnings.": "warns",
    "sys.stdout": "writes to standard output",
    "sys.stderr": "writes to standard error",
    "sys.exit": "exits the program",
    "os.": "calls the operating system",
    "shutil.": "accesses files",
    "subprocess.": "runs a program",
    "socket.": "uses the network",
    "threading.": "uses threads",
    "multiprocessing.": "uses processes",
    "pathlib.": "accesses files",
    "pickle.": "reads or writes objects",
    "hashlib.file_digest": "reads a file",
    "gc.": "controls the garbage collector",
    "time.sleep": "waits",
    "torch.save": "writes a file",
    "torch.load": "reads a file",
    "torch.distributed.": "communicates with other processes",
    "torch.manual_seed": "seeds a random number generator",
    "torch.seed": "seeds a random number generator",
    "torch.set_": "changes a setting of torch",
    "torch.use_deterministic_algorithms": "changes a setting of torch",
    "torch._dynamo.": "controls Dynamo",
    "torch.compiler.": "controls the compiler",
    "torch.cuda.synchronize": "waits for a device",
    "torch.cuda.empty_cache": "frees memory",
    "torch.library.": "registers operators",
    "torch.utils.cpp_extension": "builds code",
    "numpy.save": "writes a file",
    "numpy.load": "reads a file",
    "numpy.fromfile": "reads a file",
    "numpy.seterr": "changes a setting of NumPy",
    "numpy.copyto": "mutates an array",
    "numpy.put": "mutates an array",
    "scipy.io": "accesses files",
    "numpy.place": "mutates an array",
    "numpy.fill_diagonal": "mutates an array",
    "bisect.insort": "mutates a list",
    "operator.setitem": "mutates a container",
    "operator.delitem": "mutates a container",
    "operator.methodcaller": "calls a method that may mutate an object",
    **{f"operator.{name}": "may mutate its argument" for name in _IN_PLACE_OPERATORS},
    "functools.lru_cache": "caches results",
    "functools.cache": "caches results",
}

# From the start of a qualified name to the reason why two calls may differ; the longest match
# counts.
NONDETERMINISTIC = {
    "random.": "draws random numbers",
    "secrets.": "draws random numbers",
    "uuid.": "draws random numbers",
    "numpy.random.": "draws random numbers",
    "torch.random.": "uses the random number generator",
    "torch.Generator": "uses a random number generator",
    "torch.initial_seed": "uses the random number generator",
    "torch.nn.init.": "draws random numbers",
    "time.": "reads the clock",
    "datetime.": "reads the clock",
    "torch.empty": "returns uninitialized memory",
    "numpy.empty": "returns uninitialized memory",
    "torch.get_": "depends on a setting of torch",
    "torch.backends.": "depends on a setting of torch",
    "torch.cuda.": "depends on the device",
}
_RANDOM_NAMESPACES = ("torch", "torch.nn.functional")
# Random only with an argument that few programs pass.
_DETERMINISTIC_BY_DEFAULT = ("scaled_dot_product_attention",)

# Methods of tensors that draw random numbers.
RANDOM_METHODS = frozenset(
    {name for name in RANDOM if name.endswith("_")} | {"bernoulli", "multinomial"}
)
# The result is a memory address or depends on one. It differs in each run.
ADDRESS_METHODS = frozenset({"data_ptr", "storage", "untyped_storage", "storage_offset", "_cdata"})
# Methods of Python's containers and files that mutate the object.
MUTATING_METHODS = words(
    """append appendleft extend extendleft insert pop popleft popitem remove clear update setdefault
    sort reverse add discard difference_update intersection_update symmetric_difference_update
    rotate write writelines send throw"""
)
# Methods of strings, containers and arrays. All other pure methods are methods of tensors.
PURE_METHODS = words(
    """items keys values get copy count index split join strip lstrip rstrip startswith endswith
    replace format lower upper title removeprefix removesuffix splitlines partition rpartition find
    rfind isdigit isalpha union intersection difference issubset issuperset astype bit_length
    _replace _asdict zfill encode decode tolist fromkeys"""
)
_IMPURE_TENSOR_METHODS = frozenset(
    {"backward", "register_hook", "register_post_accumulate_grad_hook", "retain_grad"}
)


def side_effect_of(name: str) -> str | None:
    """Return the side effect of a function, given its qualified name; None if none is known."""
    if "." not in name:
        return BUILTIN_SIDE_EFFECTS.get(name)
    return _longest_match(name, SIDE_EFFECTS)


def nondeterminism_of(name: str) -> str | None:
    """Return why two calls of a function may differ; None if no reason is known."""
    namespace, _, last = name.rpartition(".")
    if namespace in _RANDOM_NAMESPACES and last in RANDOM:
        return None if last in _DETERMINISTIC_BY_DEFAULT else "draws random numbers"
    return _longest_match(name, NONDETERMINISTIC)


def _longest_match(name: str, table: dict[str, str]) -> str | None:
    starts = [start for start in table if name.startswith(start)]
    return table[max(starts, key=len)] if starts else None


def is_known_pure(name: str) -> bool:
    """Return whether a function is in a pure module, or is a pure builtin.

    `side_effect_of` and `nondeterminism_of` have the exceptions.
    """
    if "." not in name:
        is_error = isinstance(getattr(builtins, name, None), type) and name.endswith("Error")
        return name in PURE_BUILTINS or is_error
    return name.partition(".")[0] in PURE_MODULES and not name.rpartition(".")[2].endswith("_")


def is_constant(name: str) -> bool:
    """Return whether an attribute of a module never changes: `math.pi`, `torch.float32`."""
    return name.partition(".")[0] in PURE_MODULES and not name.startswith("torch.backends.")


def is_pure_method(name: str) -> bool:
    """Return whether a method is pure, for tensors, arrays, strings and containers."""
    if name in MUTATING_METHODS or name in RANDOM_METHODS or name in ADDRESS_METHODS:
        return False
    if name in PURE_METHODS:
        return True
    if name.endswith("_"):
        return name.startswith("__")
    # Here, because reading this table must not import torch.
    import torch

    return hasattr(torch.Tensor, name) and name not in _IMPURE_TENSOR_METHODS
