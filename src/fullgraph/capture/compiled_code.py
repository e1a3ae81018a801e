"""Remembers what code was compiled for: its functions, its instances and its defaults."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from types import CodeType, FunctionType, MethodType
from typing import Any

from msgspec.structs import replace

from fullgraph.capture.stacks import describe_code, is_wrapper
from fullgraph.model.events import Code


@dataclass
class _Facts:
    # Keeps the code object alive, whose id is the key.
    code: CodeType
    wrappers: int = 0
    function: weakref.ref[Any] | None = None
    # The objects whose method was compiled; those that no longer exist are only counted.
    instances: weakref.WeakValueDictionary[int, Any] = field(
        default_factory=weakref.WeakValueDictionary
    )
    seen: int = 0
    defaults: dict[str, Any] = field(default_factory=dict)


class CompiledCode:
    """Counts per code object. Code that Dynamo made cannot always be hashed, so ids are keys."""

    def __init__(self) -> None:
        self._facts: dict[int, _Facts] = {}

    def add_function(self, function: Any) -> None:
        """Note that torch.compile was given a function, a method or a module."""
        found = _plain_function(function)
        if found is not None:
            facts = self._of(found.__code__)
            facts.wrappers += 1
            facts.function = weakref.ref(found)

    def add_frame(self, frame: Any) -> None:
        """Note that a frame is compiled."""
        code = frame.f_code
        facts = self._of(code)
        instance = _instance(frame)
        if instance is not None and facts.instances.get(id(instance)) is not instance:
            try:
                facts.instances[id(instance)] = instance
            except TypeError:
                # The class allows no weak references.
                return
            facts.seen += 1
        facts.defaults = _defaults(facts)

    def instances(self, code: CodeType | None) -> int:
        """Return how many objects a method was compiled for."""
        found = self._facts.get(id(code))
        return found.seen if found is not None else 0

    def wrappers(self, code: CodeType | None) -> int:
        """Return how many calls of torch.compile were given this code."""
        found = self._facts.get(id(code))
        return found.wrappers if found is not None else 0

    def changed_defaults(self, frame: Any) -> frozenset[str]:
        """Return the arguments that have a default which is not that of the last compile."""
        facts = self._facts.get(id(frame.f_code))
        if facts is None or not facts.defaults:
            return frozenset()
        now = _defaults(facts)
        return frozenset(
            name
            for name, value in now.items()
            if value is not facts.defaults.get(name) and frame.f_locals.get(name) is value
        )

    def _of(self, code: CodeType) -> _Facts:
        return self._facts.setdefault(id(code), _Facts(code))


def _plain_function(function: Any) -> FunctionType | None:
    """Return the function with the code that runs; None if it cannot be told."""
    forward = getattr(function, "forward", None)
    if not isinstance(function, FunctionType | MethodType) and forward is not None:
        function = forward
    if isinstance(function, MethodType):
        function = function.__func__
    return function if isinstance(function, FunctionType) else None


def wrapped_function(frame: Any) -> Code | None:
    """Return what torch's wrapper passes its arguments on to; None for any other frame."""
    if frame is None or not is_wrapper(frame.f_code):
        return None
    function = frame.f_locals.get("fn")
    is_function = isinstance(function, FunctionType | MethodType)
    plain = _plain_function(function) or _plain_function(type(function).__call__)
    if plain is None:
        name = getattr(function, "__name__", "")
        return Code(frame.f_code.co_filename, frame.f_code.co_firstlineno, name) if name else None
    code = describe_code(plain.__code__)
    # A class may inherit the method, and is what the user knows.
    qualified = f"{type(function).__name__}.{code.function}"
    return code if is_function else replace(code, qualified=qualified)


def _instance(frame: Any) -> Any:
    """Return the object whose method runs; None for a function."""
    code: CodeType = frame.f_code
    owner = code.co_qualname.rpartition(".")[0]
    is_method = bool(owner) and not owner.endswith("<locals>") and code.co_argcount > 0
    return frame.f_locals.get(code.co_varnames[0]) if is_method else None


def _defaults(facts: _Facts) -> dict[str, Any]:
    function = facts.function() if facts.function is not None else None
    if function is None:
        return {}
    code = function.__code__
    values = function.__defaults__ or ()
    names = code.co_varnames[code.co_argcount - len(values) : code.co_argcount]
    return {**dict(zip(names, values, strict=True)), **(function.__kwdefaults__ or {})}
