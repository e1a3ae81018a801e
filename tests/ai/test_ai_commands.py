"""`fullgraph ai models` and `fullgraph ai classify`, with a real server on loopback."""

from __future__ import annotations

import json

import pytest

from tests.ai.loopback import Fails, Models, Says, serve
from tests.ai.project import Project

KEY = "sk-live-0123456789abcdefghij"


def test_models_shows_what_is_configured_and_that_it_answers(project: Project) -> None:
    with serve(Models(["small", "large"]), Says('{"ok": true}')) as server:
        environment = {**server.environment(), "GEMINI_API_KEY": KEY, "OPENAI_API_KEY": KEY}
        environment |= {"GOOGLE_GEMINI_BASE_URL": "http://127.0.0.1:1"}
        done = project("ai", "models", "--model", "openai:gpt-5-mini", **environment)
        address = server.address("openai")
    assert done.code == 0, done.err
    assert done.out.startswith("openai:gpt-5-mini answers (")
    assert (
        f"openai    key from OPENAI_API_KEY, {address}\n          answers; models: small, large"
        in done.out
    )
    assert "anthropic no key\n" in done.out
    assert "google    key from GEMINI_API_KEY, http://127.0.0.1:1\n" in done.out
    assert "does not answer: http://127.0.0.1:1 cannot be reached" in done.out
    assert KEY not in done.out + done.err


def test_models_without_anything_says_what_to_set(project: Project) -> None:
    done = project("ai", "models")
    assert done.code == 2
    assert (
        "No model is chosen. Set one, such as FULLGRAPH_MODEL=google:gemini-2.5-flash" in done.out
    )


@pytest.mark.parametrize(("status", "code"), [(401, 2), (404, 2), (500, 3)])
def test_a_model_that_does_not_answer_decides_the_exit_code(
    project: Project, status: int, code: int
) -> None:
    with serve(Fails(status)) as server:
        done = project(
            "ai", "models", "--model", "openai:x", "--format", "json", **server.environment()
        )
    assert done.code == code
    found = json.loads(done.out)
    assert found["model"]["answers"] is False
    assert str(status) in found["model"]["problem"]


# fullgraph ai classify.


def test_classify_compares_the_categories(project: Project) -> None:
    given = [
        {"id": "GB0124", "category": "data-dependent"},
        {"id": "gb0170", "category": "python"},
        {"id": "GB0059", "category": "magic"},
    ]
    args = (
        "ai",
        "classify",
        "GB0124",
        "GB0170",
        "GB0059",
        "GB0000",
        "--model",
        "openai:gpt-5-mini",
    )
    with serve(Says(json.dumps({"categories": given}))) as server:
        done = project(*args, **server.environment())
        found = json.loads(project(*args, "--format", "json", **server.environment()).out)
    assert done.code == 0, done.err
    assert "openai:gpt-5-mini agrees on 1 of 4 entries (25%)" in done.out
    assert "GB0170  data-dependent, the model says python:" in done.out
    assert "the model says magic, which is no category" in done.out
    assert "(the model left it out)" in done.out
    # It is asked, and not told.
    (breaks,) = [part for part in server.requests[0].user.split("<<<data") if ": breaks\n" in part]
    assert "GB0170" in breaks
    assert "data-dependent:" not in breaks
    assert [each["model"] for each in found["entries"]] == ["data-dependent", "python", "magic", ""]
    assert found["agree"] == 1
    assert found["usage"]["requests"] == 1


def test_classify_takes_no_answer_of_another_form(project: Project) -> None:
    with serve(Says("{}")) as server:
        done = project(
            "ai", "classify", "--most", "3", "--model", "openai:x", **server.environment()
        )
    assert (done.code, done.out) == (4, "")
    assert "`categories` is missing" in done.err
    unknown = project("ai", "classify", "GB9999", "--model", "openai:x", **server.environment())
    assert "has no entry GB9999; see fullgraph registry list" in unknown.err
