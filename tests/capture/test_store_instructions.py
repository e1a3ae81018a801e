"""Which instructions write a name or an attribute, and the object that has the attribute."""

from __future__ import annotations

import pytest

from fullgraph.capture.store_instructions import Store, stores_of

FUNCTION = """
def f(self, other):
    {}
"""


@pytest.mark.parametrize(
    ("statement", "store"),
    [
        ("self.k = 1", Store("attribute", "k", 3, ("self",))),
        ("self.encoder.k = 1", Store("attribute", "k", 3, ("self", "encoder"))),
        ("self.k += 1", Store("attribute", "k", 3, ("self",))),
        ("self.encoder.k += other.k", Store("attribute", "k", 3, ("self", "encoder"))),
        ("find(self).k = 1", Store("attribute", "k", 3, ())),
        ("k = 1", Store("local", "k", 3)),
        ("global k; k = 1", Store("global", "k", 3)),
    ],
)
def test_the_object_of_a_stored_attribute(statement: str, store: Store) -> None:
    scope: dict[str, object] = {}
    exec(FUNCTION.format(statement), scope)
    (stored,) = stores_of(scope["f"].__code__, frozenset({"k"})).values()  # type: ignore[attr-defined]
    assert stored == (store,)


def test_other_names_are_not_listed() -> None:
    code = compile("k = 1", "<string>", "exec")
    assert stores_of(code, frozenset({"other"})) == {}
    assert list(stores_of(code, frozenset({"k"})).values()) == [(Store("global", "k", 1),)]
