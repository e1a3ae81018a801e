"""Advice for a break, more specific than that of its category where the call is known.

Some types stand for any function: one id covers `print`, `os.stat` and `time.time`. Torch's
explanation, or the code at the break, names the function, and the first subject that it belongs to
gives the advice. Everything else gets the advice of its category.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from fullgraph.registry.taxonomy.rules import STANDS_FOR_MANY


class Subject(NamedTuple):
    """A group of functions, or of types of breaks, and the advice for them.

    None stands for the advice of the category.
    """

    pattern: str
    advice: str | None


# By the type of the break.
_TYPES = (
    Subject(
        r"(?i)backend compiler",
        'The backend fails, not the trace: compile with backend="eager" and then with '
        'backend="aot_eager". If both work, the code generation of your backend fails; if only '
        "the first one works, an operator or its gradient does. Report it to the authors of that "
        "part.",
    ),
    Subject(
        r"\b(RNN|GRU|LSTM)\b",
        "Set torch._dynamo.config.allow_rnn = True, or call the module outside the compiled "
        "function.",
    ),
    Subject(
        r"^Uninitialized nn\.Module",
        "Create the module before the compiled function; its __init__ must call super().__init__() "
        "first.",
    ),
    Subject(
        r"deepcopy",
        "Use .clone() for a tensor (.detach().clone() for a parameter), and copy other objects "
        "before the compiled function.",
    ),
)

# By the name of the function, such as `posix.stat`, `Random.seed` or `lock.acquire`.
_FUNCTIONS = (
    Subject(r"\bprint\b|\b_?warnings?\b|\blogg|\bLogger\b|\bstd(out|err)\b|\bbreakpoint\b", None),
    Subject(r"\b(write|writelines|flush) TextIOWrapper\b", None),
    Subject(
        r"\b(Random|random|secrets|uuid|Generator|RandomState)\b|urandom|\b(manual_)?seed\b",
        "Draw random numbers with torch (torch.rand, torch.randint), which Dynamo traces, or "
        "before the compiled function, and pass them in; set seeds outside.",
    ),
    Subject(
        r"\b(time|datetime)\.|\bperf_counter|\bmonotonic",
        "Read the clock, or wait, before and after the compiled function, or skip it in compiled "
        "code with if not torch.compiler.is_compiling().",
    ),
    Subject(
        r"\b(posix|nt|os)\.(cpu_count|get(pid|ppid|uid|cwd|env|login)|uname|sched_getaffinity)"
        r"|\bplatform\.|\bgethostname|\benviron|\bgetenv",
        "Read it once before the compiled function and pass it in; a value that never changes can "
        "be a constant of the module.",
    ),
    Subject(
        r"\b_?(socket|ssl|subprocess|posixsubprocess|multiprocessing|urllib|http|requests)\b"
        r"|\b(posix|os)\.(fork|spawn|exec|kill|wait|pipe|system)",
        "Talk to other processes and machines outside the compiled function, and pass in what it "
        "needs.",
    ),
    Subject(
        r"\b_?(posix|nt|os|io|pathlib|shutil|tempfile|glob|fileinput)\.|\bopen\b|\bPath\b"
        r"|\b\w*(TextIO|BytesIO|StringIO|TextIOWrapper|BufferedReader|BufferedWriter)\b",
        "Use files and folders before or after the compiled function, and pass in what it needs; "
        "an answer that never changes, such as whether a file exists, can be a constant of the "
        "module.",
    ),
    Subject(
        r"\b_?thread(ing)?\.|\b_?R?[lL]ock\b|\b(Semaphore|Condition|Event|Queue|queue)\b",
        "Take locks and start threads around the call of the compiled function, not inside it.",
    ),
    Subject(
        r"\bimportlib\b|\bimport_module\b|\b__import__\b",
        "Import the module at the top of the file, or before the compiled function.",
    ),
    Subject(
        r"\b(eval|exec|compile)$",
        "Write the code out instead of running a string: Dynamo traces only functions that it can "
        "read.",
    ),
    Subject(
        r"\b(sys|gc|inspect|traceback|signal|tracemalloc)\.|\b_getframe\b|\bcurrentframe\b",
        "Do it outside the compiled function, or skip it in compiled code with if not "
        "torch.compiler.is_compiling(): there, Python's frames, references and memory are not "
        "those of your program.",
    ),
    Subject(
        r"\b_?(json|pickle|marshal|csv|yaml|struct)\.|\b_json\b|\bScanner\b|\bPickler\b",
        "Encode and decode data outside the compiled function, and pass in the values.",
    ),
    Subject(
        r"\b_?(hashlib|zlib|binascii|md5|sha\d+|blake2)\b|\bHASH\b|\bopenssl_",
        "Compute the checksum before the compiled function and pass it in; a checksum of constants "
        "can be a constant of the module.",
    ),
)  # fmt: skip

# Types whose code may name the function, though their explanation does not.
_NAMED_IN_CODE = rf"{STANDS_FOR_MANY}|numpy function|^data dependent operator"
_CLASS = re.compile(r"method `(\w+)` of class `(\w+)`")
_NAME = re.compile(r"`(?:<class ')?([\w.<> ]+?)\.?(?:'>)?`")


@cache
def specific_advice(type_: str, explanation: str = "", calls: tuple[str, ...] = ()) -> str | None:
    """Return the advice for the function that breaks; None if the category has to give it.

    `calls` are the names of the functions that the user's code calls. They come first: a reader
    who calls `subprocess.run` does not know the lock that Dynamo stops at.
    """
    for subject in _TYPES:
        if re.search(subject.pattern, type_):
            return subject.advice
    if not re.search(_NAMED_IN_CODE, type_, re.IGNORECASE):
        return None
    for name in (*calls, *_names(explanation)):
        for subject in _FUNCTIONS:
            if re.search(subject.pattern, name):
                return subject.advice
    return None


def _names(explanation: str) -> list[str]:
    """Return the function that an explanation names, with its class or its file."""
    method = _CLASS.search(explanation)
    if method:
        return [f"{method[1]} {method[2]}", f"{method[2]}.{method[1]}"]
    found = _NAME.search(explanation)
    file = re.search(r"in file `[^`]*?(\w+)(?:[/\\]__init__)?\.py`", explanation)
    names = [found[1]] if found else []
    return [*names, f"{file[1]}.{names[0]}"] if names and file else names
