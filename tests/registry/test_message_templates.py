from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fullgraph.registry import message_templates as templates
from fullgraph.registry.entries import Wording
from fullgraph.registry.message_templates import (
    CLOSE,
    OPEN,
    has_placeholders,
    is_unevaluated,
    is_unevaluated_type,
    joined_hints,
    lacks_text,
    literals,
    readable,
    readable_type,
)
from fullgraph.registry.sources import require_installed


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("plain words", "plain words"),
        ("call {fn} now", "call ‹fn› now"),
        ("got {type(arg.value).__name__}", "got ‹type of value›"),
        ("{len(args)} given", "‹number of args› given"),
        ("one of {','.join(set(kwargs.keys()) - {'repeat'})}", "one of ‹kwargs›"),
        ("the {self.python_type_name()} here", "the ‹type› here"),
        ("{value!r} and {size:>3}", "‹value› and ‹size›"),
        ("str(e)", "‹error›"),
        ("msg", "‹message›"),
        ("typestr(thing)", "‹type of thing›"),
        ("make_sad_message(e)", "‹sad message›"),
        ('"Failed with {this}, "    + f"because {that}."', "Failed with ‹this›, because ‹that›."),
        ("msg +   + epilogue", "‹message› ‹epilogue›"),
        ('start    + " and the end."', "‹start› and the end."),
        ("a set {1: 2} stays", "a set {1: 2} stays"),
        ("an open { stays", "an open { stays"),
        ("f(x) is a call in a sentence", "f(x) is a call in a sentence"),
        ("", ""),
        # Names without their underscores and suffixes.
        ("{_private} {other_vt} {name_str} {x_var} {k}", "‹private› ‹other› ‹name› ‹x› ‹key›"),
        ("{self} {vt}", "‹object› ‹value›"),
        ("{_}", "‹value›"),
        ("{fn.__name__} of {code.co_name} in {a.b_str}", "‹fn› of ‹code› in ‹b›"),
        # Expressions are named after what they are about.
        ("{type(self)} or {typestr()}", "‹type› or ‹type›"),
        ("{len(a)} {len(self.items)}", "‹number of a› ‹number of items›"),
        ("{getattr(a, b)} {getattr(a)} {a.getattr(b)}", "‹b› ‹a› ‹getattr›"),
        ("{', '.join(names)} {names.join(a)}", "‹names› ‹a›"),
        ("{str(e)!r} {repr(a.b)} {x.debug_repr()}", "‹error› ‹b› ‹x›"),
        ("{make_node()} {obj.get_name()} {_is_ok(x)} {_()}", "‹node› ‹name› ‹ok› ‹value›"),
        ("{[f(x) for x in args]} {(f(x) for x in args)}", "‹args› ‹args›"),
        ("{a[0]} {a + b} {a if b else c} {1 + 2} {not a}", "‹a› ‹a› ‹b› ‹value› ‹a›"),
        ("{lambda: 1} {x=} {size:>{width}}", "‹value› ‹x› ‹size›"),
        ("{} {1} {(1, 2)} {a b}", "{} {1} {(1, 2)} {a b}"),
        ("{a {b} c}", "{a ‹b› c}"),
        ("{f({})} and }{c}", "‹f› and }‹c›"),
        # Source instead of text.
        ("a.b.c", "‹c›"),
        ("name()", "name()"),
        ('f"no {x}" + reason', "no ‹x›‹reason›"),
        ("reason + a.b", "‹reason›‹b›"),
        ("explain(a, b) ", "‹explain›"),
    ],
)
def test_readable(source: str, shown: str) -> None:
    assert readable(source) == shown


def test_a_type_is_a_name_even_if_it_looks_like_source() -> None:
    assert readable_type("missing_slot") == "missing_slot"
    assert readable_type("call of {name}") == "call of ‹name›"
    assert readable_type("_gb_type") == "‹gb_type›"


def test_unevaluated_text_has_no_words() -> None:
    assert is_unevaluated("str(e)")
    assert not is_unevaluated("it is {e}")
    assert not is_unevaluated("")


def test_a_hint_that_was_written_over_several_lines_is_one() -> None:
    written = ("Put it down and ", "go away.", "A sentence. ", "Another one.", "See", " this")
    assert joined_hints(written) == (
        "Put it down and go away.",
        "A sentence.",
        "Another one.",
        "See this",
    )
    assert joined_hints(("", " ")) == ()
    assert joined_hints(("Ends with a dot. ", "but goes on.", "See it")) == (
        "Ends with a dot. but goes on.",
        "See it",
    )
    assert joined_hints(("No space", "See {fn}")) == ("No space", "See ‹fn›")
    assert joined_hints(("A ", "B ", "C")) == ("A B C",)


def test_a_text_lacks_words_if_it_is_a_variable_or_has_no_hints() -> None:
    def wording(explanation: str, *hints: str) -> Wording:
        return Wording("T", "", explanation, hints)

    assert lacks_text(wording("msg", "A hint."))
    assert lacks_text(wording("It broke."))
    assert not lacks_text(wording("It broke.", "A hint."))
    assert not lacks_text(wording("", "A hint."))
    assert is_unevaluated_type(readable_type("_gb_type"))
    assert not is_unevaluated_type(readable_type("call of {name}"))
    assert has_placeholders("call of ‹name›")
    assert not has_placeholders("call of {name}")


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    shown = readable(text)
    assert isinstance(shown, str)
    assert isinstance(readable_type(text), str)


@given(
    st.lists(st.text(alphabet=st.characters(exclude_characters="{}‹›"), max_size=20), min_size=1)
)
def test_the_fixed_parts_are_kept(parts: list[str]) -> None:
    # The leading words make it a sentence instead of an expression.
    text = "all the words " + "{hole}".join(parts)
    assert "".join(literals(readable(text))) == "all the words " + "".join(parts)


def test_no_source_is_left_in_the_registry_that_is_installed() -> None:
    left = []
    for identifier, wordings in require_installed().entries.items():
        for wording in wordings:
            texts = [readable(wording.explanation), *joined_hints(wording.hints)]
            for text in [*texts, readable_type(wording.type)]:
                holes = re.findall(f"{OPEN}([^{CLOSE}]*){CLOSE}", text)
                odd = [hole for hole in holes if not re.fullmatch(r"[\w ]+", hole)]
                if odd or re.search(r"\{[A-Za-z_]|\" *\+|f\"", text):
                    left.append((identifier, text))
    assert not left


def test_names_never_repeat_the_source() -> None:
    assert templates.readable("{a.b(c)[0].d!r}") == "‹d›"
