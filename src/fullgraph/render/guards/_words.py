"""Guards in words: what a kind of guard checks, and what can be done about expensive ones."""

from __future__ import annotations

from fullgraph.model.events import ChangePlace
from fullgraph.model.guard_report import GuardedCompile

# What a guard checks about the values of a place.
_CHECKS = {
    "COMPLEX_IS_NAN": "that a complex number is NaN in",
    "DATA_PTR_MATCH": "the memory address of",
    "DEFAULT_DEVICE": "the default device",
    "DICT_CONTAINS": "that names are absent from or present in",
    "DICT_LENGTH": "the length of",
    "DICT_VERSION": "that nothing was written to",
    "DIMENSION_DYNAMIC_MARKING_GUARD": "the mark_dynamic marks of",
    "DISPATCH_KEY_SET_MATCH": "the dispatch keys of",
    "DUAL_LEVEL_MATCH": "the level of forward-mode autograd",
    "DYNAMIC_INDICES": "the mark_dynamic marks of",
    "EQUALS_MATCH": "the value of",
    "FALSE_MATCH": "the value of",
    "FLOAT_IS_NAN": "that a float is NaN in",
    "GLOBAL_STATE": "grad mode, autocast, default dtype, number of threads",
    "ID_MATCH": "the identity of",
    "LAMBDA_GUARD": "a condition in Python on",
    "LENGTH_CHECK": "the length of",
    "MAPPING_KEYS_MATCH": "the keys of",
    "NONE_MATCH": "whether None is",
    "NO_HASATTR": "that an attribute is absent from",
    "NO_TENSOR_ALIASING": "that no two are the same tensor:",
    "OBJECT_ALIASING": "that two are the same object:",
    "RANGE_ITERATOR_MATCH": "the state of an iterator in",
    "SHAPE_ENV": "conditions on sizes and numbers of",
    "STORAGE_OVERLAPPING": "that memory does not overlap:",
    "SYMBOLIC_SHAPE_GUARD": "conditions on sizes and numbers of",
    "TENSOR_MATCH": "dtype, device, sizes and strides of",
    "TORCH_FUNCTION_MODE_STACK": "the active __torch_function__ modes",
    "TRUE_MATCH": "the value of",
    "TUPLE_ITERATOR_LEN": "the state of an iterator in",
    "TYPE_MATCH": "the type of",
}
_PLACES: dict[ChangePlace, str] = {
    "argument": "arguments",
    "attribute": "modules and attributes",
    "parameter": "parameters and buffers",
    "global": "globals",
    "default": "default arguments",
    "closure": "closure variables",
    "torch": "",
    "break": "values before a graph break",
}
_STATE = "torch's own state"
# Guards that take less than this per call are not worth any risk.
_EXPENSIVE_SECONDS = 20e-6
_LARGE_SHARE = 0.5
_OF_MODULES = ("parameter", "attribute")


def what_is_checked(kind: str, place: ChangePlace) -> str:
    """Return `dtype, device, sizes and strides of parameters and buffers`."""
    checks = _CHECKS.get(kind, f"{kind} of")
    if _PLACES[place]:
        return f"{checks} {_PLACES[place]}"
    # Some kinds say themselves which state they check.
    return f"{checks} {_STATE}" if checks.endswith((" of", " on", " in")) else checks


def advice_for(compiled: GuardedCompile) -> str:
    """Return what to do about the guards of a compile; empty if there is nothing useful to say."""
    if compiled.seconds is None or compiled.seconds < _EXPENSIVE_SECONDS:
        return ""
    of_modules = [group for group in compiled.groups if group.place in _OF_MODULES]
    seconds = sum(group.seconds or 0.0 for group in of_modules)
    if seconds < _LARGE_SHARE * compiled.seconds:
        return ""
    number = sum(len(group.guards) for group in of_modules)
    return (
        f"{number} of {compiled.guards} guards are on modules, their attributes and parameters. "
        "If none of them changes after the first call, torch.compile can drop these guards: "
        'options={"guard_filter_fn": torch.compiler.skip_guard_on_all_nn_modules_unsafe}. This is '
        "unsafe: a change of a module (train or eval mode, a new parameter, an attribute) is no "
        "longer noticed, and old code runs with it."
    )
