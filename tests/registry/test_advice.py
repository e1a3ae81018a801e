"""Advice fits the function that breaks, not only the category of the break."""

from __future__ import annotations

import re

import pytest

from fullgraph.registry.taxonomy import advice_for, category_of
from fullgraph.registry.taxonomy.advice import _FUNCTIONS, _TYPES

SKIPPED = "Attempted to call function marked as skipped"
BUILTIN = "Failed to trace builtin operator"
METHOD = "Unsupported method call"
C_FUNCTION = (
    "Dynamo does not know how to trace the builtin `{}.` This function is either a Python builtin "
    "(e.g. _warnings.warn) or a third-party C/C++ Python extension"
)


def advice(type_: str, explanation: str, *calls: str) -> str:
    return advice_for(category_of(type_, explanation), type_, explanation, calls)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        ("posix.stat", "files and folders"),
        ("posix.listdir", "files and folders"),
        ("nt.stat", "files and folders"),
        ("posix.cpu_count", "once before the compiled function"),
        ("posix.getpid", "once before the compiled function"),
        ("_socket.gethostname", "once before the compiled function"),
        ("time.time", "clock"),
        ("time.perf_counter", "clock"),
        ("<unknown module>.Random.random", "random numbers"),
        ("posix.urandom", "random numbers"),
        ("_thread.allocate_lock", "locks"),
        ("_pickle.dumps", "Encode and decode"),
        ("zlib.crc32", "checksum"),
        ("_hashlib.openssl_sha256", "checksum"),
        ("gc.collect", "is_compiling"),
        ("sys._getframe", "is_compiling"),
        ("my_extension.run", "torch.library.custom_op"),
    ],
)
def test_a_c_function_gets_advice_for_what_it_does(function: str, expected: str) -> None:
    text = advice(SKIPPED, C_FUNCTION.format(function))
    assert expected in text
    assert "print" not in text


@pytest.mark.parametrize(
    ("type_", "explanation", "expected"),
    [
        (SKIPPED, "the Python builtin `_warnings.warn`.", "reorderable_logging_functions"),
        (BUILTIN, "builtin operator `print` with argument types", "reorderable_logging_functions"),
        (METHOD, "method `write` of class `TextIOWrapper`", "reorderable_logging_functions"),
        (BUILTIN, "builtin operator `open` with argument types ['str']", "files and folders"),
        (BUILTIN, "builtin operator `eval` with argument types ['str']", "Write the code out"),
        (BUILTIN, "builtin operator `range` with ['Tensor']", "Call it outside"),
        (METHOD, "method `close` of class `TextIOWrapper`", "files and folders"),
        (METHOD, "method `acquire` of class `lock`", "locks"),
        (METHOD, "method `random` of class `Generator`", "random numbers"),
        (METHOD, "method `frobnicate` of class `list`", "plain functions, lists"),
        (SKIPPED, "function `Random.seed` in file `/lib/python3.11/random.py`", "random numbers"),
        (SKIPPED, "function `import_module` in file `/lib/importlib/__init__.py`", "Import"),
        ("Unsupported function call", "function `<class 'socket.socket'>`", "processes"),
        ("Backend compiler exception", "", 'backend="aot_eager"'),
        ("Uninitialized nn.Module", "", "Create the module before"),
        ("Attempted to wrap RNN, GRU, or LSTM", "", "allow_rnn"),
    ],
)
def test_the_explanation_or_the_type_names_the_subject(
    type_: str, explanation: str, expected: str
) -> None:
    assert expected in advice(type_, explanation)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("json.dumps", "Encode and decode"),
        ("datetime.datetime.now", "clock"),
        ("subprocess.run", "processes"),
        ("np.random.rand", "random numbers"),
        ("self.layer", "plain functions, lists"),
    ],
)
def test_the_call_in_the_code_says_what_an_internal_method_is_for(call: str, expected: str) -> None:
    assert expected in advice(METHOD, "method `__new__` of class `type`", call)


def test_other_types_keep_the_advice_of_their_category() -> None:
    type_ = "Data-dependent branching"
    assert advice(type_, "", "os.path.exists") == advice_for("data-dependent")


def test_every_subject_is_one_sentence_or_two() -> None:
    for subject in (*_TYPES, *_FUNCTIONS):
        re.compile(subject.pattern)
        if subject.advice is not None:
            assert subject.advice.endswith(".")
            assert len(subject.advice) < 320
