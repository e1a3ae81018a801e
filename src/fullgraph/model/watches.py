"""What `capture/measures/writes.py` is asked to watch."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class Watch(Struct, frozen=True, omit_defaults=True):
    """A value, and the calls before which the line that wrote it is wanted: target and number.

    For a local, `file` and `function` are those of the caller that binds it. For a global, `file`
    is that of its module, and for a closure cell that of the compiled function.
    """

    # Dynamo's expression for the value, in the frame of the function that is called.
    source: str
    scope: Literal["attribute", "global", "cell", "local", "default"]
    name: str
    calls: tuple[tuple[int, int], ...]
    file: str = ""
    function: str = ""
    # The class of the object that has an attribute, if only that is known: the function that is
    # compiled is not the one that is called, so `source` has no meaning in the call.
    holder: str = ""
    # Whether only a write after the first call of the function counts: a parameter can also change
    # without being assigned.
    after_first_call: bool = False
