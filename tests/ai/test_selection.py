"""Which model is asked: keys, addresses, and what never shows a key."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from fullgraph.ai import keys
from fullgraph.ai.errors import SetupError
from fullgraph.ai.keys import Key, configured_values, find_key
from fullgraph.ai.providers import open_model
from fullgraph.ai.selection import ModelName, select
from tests.ai.answers import answer
from tests.ai.loopback import Fails, Says, serve
from tests.ai.project import Project


def test_a_name_may_have_colons_and_slashes() -> None:
    chosen = select("openai:qwen2.5-coder:7b", {"OPENAI_BASE_URL": "http://localhost:11434/v1"})
    assert chosen.model == ModelName("openai", "qwen2.5-coder:7b")
    assert (chosen.provider.address, chosen.provider.key) == ("http://localhost:11434/v1", None)


def test_the_option_counts_more_than_the_variable() -> None:
    environment = {"FULLGRAPH_MODEL": "openai:a", "OPENAI_API_KEY": "k", "GEMINI_API_KEY": "g"}
    assert str(select(None, environment).model) == "openai:a"
    assert str(select("google:b", environment).model) == "google:b"


def test_a_key_does_not_show_itself() -> None:
    key = find_key("google", {"GEMINI_API_KEY": " gem-123456 ", "OPENAI_API_KEY": "sk-1"})
    assert key == Key("gem-123456", "GEMINI_API_KEY")
    assert repr(key) == "Key(from GEMINI_API_KEY)"
    assert "gem-123456" in configured_values({})


@pytest.mark.parametrize("value", ["two words", "sm\u00f8rrebr\u00f8d", "a\nb"])
def test_a_damaged_key_is_named_and_not_shown(value: str) -> None:
    with pytest.raises(SetupError, match="key from OPENAI_API_KEY has characters") as raised:
        find_key("openai", {"OPENAI_API_KEY": value})
    assert value not in str(raised.value)


@pytest.fixture
def _keyring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "keyring.py").write_text(
        "def get_password(service, user):\n"
        "    assert service == 'fullgraph'\n"
        "    if user == 'ANTHROPIC_API_KEY':\n        raise RuntimeError('locked')\n"
        "    return 'ring-123456' if user == 'OPENAI_API_KEY' else None\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "keyring", raising=False)
    importlib.invalidate_caches()


@pytest.mark.usefixtures("_keyring")
def test_a_key_may_be_in_the_keyring(project: Project) -> None:
    assert find_key("openai", {}) == Key("ring-123456", "keyring")
    assert find_key("openai", {"OPENAI_API_KEY": "mine"}) == Key("mine", "OPENAI_API_KEY")
    assert find_key("google", {}) is None
    assert find_key("anthropic", {}) is None
    project.capture()
    refused = Fails(401, {"error": {"message": "bad key ring-123456"}})
    with serve(refused) as server:
        done = project("explain", "--ai", "GB0124", "--model", "openai:x", **server.environment())
    assert server.requests[0].headers["authorization"] == "Bearer ring-123456"
    assert "refuses the key from keyring (401): bad key [masked];" in done.err
    sys.modules.pop("keyring", None)
    keys._found.clear()


def test_a_password_in_an_address_is_not_shown(project: Project) -> None:
    with serve(Says(answer())) as server:
        address = server.address("openai").replace("://", "://me:hunter22@")
    done = project("ai", "models", "--model", "openai:x", OPENAI_BASE_URL=address)
    assert done.code == 3
    assert "http://[masked]@127.0.0.1" in done.out
    assert "hunter22" not in done.out + done.err


def test_a_key_in_an_answer_is_masked_also_if_it_is_split(project: Project) -> None:
    key = "sk-live-0123456789abcdefghij"
    echo = answer(cause=f"You sent {key}.", why=f"Again {key[:-3]}, but shorter.")
    args = ("explain", "--ai", "GB0124", "--model", "openai:x")
    with serve(Says(list(echo))) as server:
        environment = {**server.environment(), "OPENAI_API_KEY": key}
        shown = project.in_terminal(*args, **environment).end()
        piped = project(*args, **environment)
    for done in (shown, piped):
        assert "You sent [masked]." in done.out
        assert key not in done.out
        assert f"Again {key[:-3]}, but shorter." in done.out


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "fullgraph.ai.providers.google", raising=False)
    monkeypatch.setitem(sys.modules, "google.genai.types", None)
    selection = select("google:x", {"GEMINI_API_KEY": "k"})
    with pytest.raises(SetupError, match=r"install it with pip install 'fullgraph\[google\]'"):
        open_model(selection)


def test_the_limit_of_an_answer_has_the_name_that_the_server_knows(project: Project) -> None:
    with serve(Says(answer())) as server:
        for name in ("gpt-5-mini", "llama3", "gpt-oss:20b"):
            args = ("explain", "--ai", "GB0124", "--max-tokens", "900", "--model", f"openai:{name}")
            assert project(*args, **server.environment()).code == 0
    limits = [
        (each.body.get("max_completion_tokens"), each.body.get("max_tokens"))
        for each in server.requests
    ]
    assert limits == [(900, None), (None, 900), (None, 900)]
