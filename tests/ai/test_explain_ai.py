"""`fullgraph explain --ai`, as a user sees it, with a real server on loopback."""

from __future__ import annotations

import json
import socket
import threading
from importlib import import_module
from typing import Any

import pytest

from tests.ai.answers import GOOD, answer, pieces
from tests.ai.loopback import Cut, Fails, Hangs, Raw, Says, serve
from tests.ai.project import Done, Project

KEY = "sk-live-0123456789abcdefghij"
ASK = ("explain", "--ai", "model.py:11", "--model", "openai:gpt-5-mini")


def test_a_break_is_explained_and_what_the_model_claims_is_checked(project: Project) -> None:
    project.capture()
    with serve(Says(pieces(answer()))) as server:
        done = project(*ASK, **server.environment())
    assert done.code == 0
    assert done.err == ""
    lines = done.out.split("\n")
    assert lines[0].startswith("model.py:11  GB0124  Unsupported Tensor.item() call")
    assert "cause     `.item()` on line 11 reads a number from a tensor." in lines
    assert "    return x / torch.clamp(scale, min=1.0)" in lines
    assert "checked   7 of 7 claims are right, none is wrong" in lines
    assert "used      1200 tokens in, 300 out, $0.0009" in done.out
    # It is not said while it is checked: nobody watches.
    assert "not checked yet" not in done.out


def test_wrong_claims_are_called_wrong_in_words(project: Project) -> None:
    project.capture()
    liar = answer(
        change="Use torch.compile_safe_item on line 77, see GB9999.",
        lines=["model.py:400", "other.py:1"],
        names=["torch.no_such_function", "math.sqroot"],
        settings=["torch._dynamo.config.turbo", "TORCHDYNAMO_TURBO"],
        category="mutation",
        facts=["F99"],
        snippet="scale = x.abs(",
    )
    with serve(Says(liar)) as server:
        done = project(*ASK, **server.environment())
    assert done.code == 0
    for line in (
        "wrong: line model.py:400: model.py has 17 lines",
        "wrong: line other.py:1: there is no file other.py that can be read",
        "wrong: line model.py:77: model.py has 17 lines",
        "wrong: name torch.no_such_function: torch 2.13.0 has no such name",
        "wrong: name torch.compile_safe_item: torch 2.13.0 has no such name",
        "wrong: name math.sqroot: the module math has no such name",
        "wrong: setting torch._dynamo.config.turbo: torch 2.13.0 has no such setting",
        "wrong: setting TORCHDYNAMO_TURBO: torch 2.13.0 does not read this variable",
        "wrong: category mutation: GB0124 belongs to data-dependent",
        "wrong: id GB9999: no release of torch has this id",
        "wrong: snippet scale = x.abs(: Python does not compile it",
        "wrong: fact F99: only F1 to F",
    ):
        assert line in done.out.replace("\n          ", " "), line


def test_json_comes_after_the_checks_and_has_the_documented_fields(project: Project) -> None:
    project.capture()
    with serve(Says(pieces(answer(names=["torch.clamp", "torch.nope"])))) as server:
        done = project(*ASK, "--format", "json", **server.environment())
    found: dict[str, Any] = json.loads(done.out)
    assert list(found) == ["format", "place", "id", "type", "answer", "checks", "usage"]
    assert (found["format"], found["place"], found["id"]) == (1, "model.py:11", "GB0124")
    assert found["answer"] == {**GOOD, "names": ["torch.clamp", "torch.nope"]}
    nope = {
        "kind": "name", "claim": "torch.nope", "ok": False, "why": "torch 2.13.0 has no such name",
    }  # fmt: skip
    assert nope in found["checks"]
    usage = found["usage"]
    assert usage.pop("seconds") > 0
    assert usage == {
        "model": "openai:gpt-5-mini", "prompt": "explain 1", "requests": 1,
        "input_tokens": 1200, "output_tokens": 300, "cost": 0.0009,
    }  # fmt: skip


def test_both_breaks_on_a_line_are_explained(project: Project) -> None:
    project.capture()
    with serve(Says(answer(cause="The branch.")), Says(answer(cause="The number."))) as server:
        args = ("explain", "--ai", "model.py:15", "--model", "openai:x")
        done = project(*args, **server.environment())
        assert "cause     The branch." in done.out
        assert "cause     The number." in done.out
        assert "price unknown" in done.out
        found = json.loads(project(*args, "--format", "json", **server.environment()).out)
    assert {found["type"], found["also"][0]["type"]} == {
        "Data-dependent branching",
        "Unsupported Tensor.item() call with capture_scalar_outputs=False",
    }


def test_an_id_and_a_pasted_error_are_explained_without_a_session(project: Project) -> None:
    error = (
        "torch._dynamo.exc.Unsupported: Data-dependent branching\n  Explanation: Detected "
        "data-dependent branching (e.g. `if my_tensor.sum() > 0:`).\n\nfrom user code:\n"
        '  File "/home/me/secret/net.py", line 3, in f\n    if x.sum() > 0:\n'
    )
    with serve(Says(answer(lines=[]))) as server:
        by_id = project("explain", "--ai", "GB0124", "--model", "openai:x", **server.environment())
        pasted = project(
            "explain", "--ai", "--no-source", "--model", "openai:x", stdin=error,
            **server.environment(),
        )  # fmt: skip
    assert by_id.code == pasted.code == 0
    assert by_id.out.startswith("GB0124  Unsupported Tensor.item()")
    assert pasted.out.startswith("GB0170  Data-dependent branching")
    assert "if x.sum() > 0:" not in server.requests[1].user
    assert 'File "~/secret/net.py", line 3' in server.requests[1].user


def test_further_breaks_of_a_pasted_log_are_named(project: Project) -> None:
    log = "Data-dependent branching\n  Explanation: x\n  Developer debug context: y\n\n"
    log += "Unsupported Tensor.item() call with capture_scalar_outputs=False\n  Explanation: z\n"
    with serve(Says(answer())) as server:
        done = project("explain", "--ai", "--model", "openai:x", stdin=log, **server.environment())
    assert done.code == 0, done.err
    assert done.out.startswith("GB0170  Data-dependent branching")
    assert "note      the text has further breaks: GB0124; ask about one by its id" in done.out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("model.py:3", "the session has no break at model.py:3; breaks of that file are at lines "
         "11, 15; if the file was changed, capture it again with: fullgraph run model.py"),
        ("nothing.py:3", "there is no file nothing.py; name one as FILE:LINE"),
        ("scaling.py:1", "the session has no break in scaling.py; see fullgraph report, or capture "
         "the program again with: fullgraph run model.py"),
        ("mutation", "explain --ai needs FILE:LINE of a break, an id such as GB0124, or a message"),
        ("GB9876", "no known release has GB9876"),
    ],
)  # fmt: skip
def test_a_place_without_a_break_is_an_error_of_one_line(
    project: Project, text: str, said: str
) -> None:
    project.capture()
    with serve(Says(answer())) as server:
        done = project("explain", "--ai", text, "--model", "openai:x", **server.environment())
    assert (done.code, done.out, server.requests) == (2, "", [])
    assert done.err.startswith(f"fullgraph: {said}")
    assert done.err.count("\n") == 1


def test_without_a_session_the_command_to_type_is_named(project: Project) -> None:
    done = project("explain", "--ai", "model.py:11", "--show-prompt")
    assert done == Done(
        2, "", "fullgraph: no session of a program in this folder is kept; capture one with: "
        "fullgraph run model.py\n",
    )  # fmt: skip


def test_the_newest_session_of_the_folder_counts_unless_one_is_named(project: Project) -> None:
    older = project.capture()
    newer = project.home / "sessions" / "20270101-000000-000000000-1"
    newer.mkdir()
    text = (older / "1.jsonl").read_text()
    (newer / "1.jsonl").write_text(text.replace("Cannot trace this", "Newer words"))
    elsewhere = project.home / "sessions" / "20280101-000000-000000000-1"
    elsewhere.mkdir()
    (elsewhere / "1.jsonl").write_text(text.replace(str(project.folder), "/elsewhere"))
    show = ("explain", "--ai", "model.py:11", "--show-prompt")
    assert "Newer words" in project(*show).out
    assert "Cannot trace this" in project(*show, "--session", str(older)).out


def test_a_file_that_was_changed_since_is_noted(project: Project) -> None:
    project.capture()
    model = project.folder / "model.py"
    model.write_text(model.read_text().replace(".max().item()", ".max().tolist()"))
    with serve(Says(answer())) as server:
        done = project(*ASK, **server.environment())
    assert "note      model.py was changed after it was captured" in done.out
    assert "model.py was changed after it was captured" in server.requests[0].user


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({}, "no model is set; name one with --model PROVIDER:NAME or FULLGRAPH_MODEL"),
        ({"FULLGRAPH_MODEL": "gpt-5"}, "'gpt-5' is not a model; write PROVIDER:NAME"),
        ({"FULLGRAPH_MODEL": "cohere:x"}, "'cohere:x' is not a model; write PROVIDER:NAME"),
        ({"FULLGRAPH_MODEL": "google:g"}, "there is no key for google; set GOOGLE_API_KEY or "
         "GEMINI_API_KEY, or GOOGLE_GEMINI_BASE_URL for a server that needs no key"),
        ({"FULLGRAPH_MODEL": "openai:g", "OPENAI_BASE_URL": "localhost:1"},
         "OPENAI_BASE_URL is not an address; it must start with http:// or https://"),
        ({"FULLGRAPH_MODEL": "openai:g", "OPENAI_BASE_URL": "http://127.0.0.1:1/v1"},
         "http://127.0.0.1:1/v1 cannot be reached; 3 tries failed"),
    ],
)  # fmt: skip
def test_without_a_model_the_user_learns_what_to_set(
    project: Project, environment: dict[str, str], said: str
) -> None:
    project.capture()
    done = project("explain", "--ai", "model.py:11", **environment)
    assert done.code == (3 if "reached" in said else 2)
    assert done.out == ""
    assert done.err.split("\n")[-2].startswith(f"fullgraph: {said}")


def _keyed(server: Any) -> dict[str, str]:
    return {**server.environment(), "OPENAI_API_KEY": KEY}


@pytest.mark.parametrize(
    ("step", "code", "said"),
    [
        (Fails(401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}), 2,
         "refuses the key from OPENAI_API_KEY (401): Incorrect API key provided: [masked]"),
        (Fails(404), 2, "has no model gpt-5-mini (404)"),
        (Fails(400, {"error": {"message": "bad \x1b[31mred"}}), 2, "the request (400): bad red"),
        (Fails(302, headers={"location": "http://127.0.0.1:9/"}), 2,
         "redirects to another address, which is not followed; set OPENAI_BASE_URL"),
        (Fails(429, headers={"retry-after": "3600"}), 3, "(429): no; try again in 60 minutes"),
        (Fails(429, headers={"retry-after": "2"}), 3, "(429): no; 3 tries failed"),
        (Fails(500), 3, "failed with status 500: no; 3 tries failed"),
        (Fails(503, headers={"retry-after": "31"}), 3, "status 503: no; try again in 31 s"),
        (Raw(b"<html>Sign in</html>"), 3, "with something that is not JSON; 3 tries failed"),
        (Raw(b'{"choices": [{"mess', "application/json"), 3, "something that is not JSON"),
        (Raw(b"data: {nonsense\n\n", "text/event-stream"), 3, "something that is not JSON"),
        (Raw(b"Hello", "text/plain"), 3, "something that is not JSON"),
        (Raw(b"data: [DONE]\n\n", "text/plain"), 4, "gave no usable answer"),
        (Cut(), 3, "was cut; 3 tries failed"),
        (Cut(politely=True), 3, "was cut; 3 tries failed"),
        (Cut(["{\"cau"]), 3, "was cut in the middle of the answer; ask again"),
        (Cut(["{\"cau"], politely=True), 3, "was cut in the middle of the answer; ask again"),
        (Says("", reason="content_filter", refusal="I \x1b]0;x\x07cannot."), 4,
         "openai:gpt-5-mini refused to answer: I cannot."),
        (Says('{"cause": "A'), 4, "did not answer in the form that was asked for; ask again"),
        (Says('{"cause": "A", "why": 3, "change": "B"}'), 4, "asked for: `why` is missing"),
        (Says("It breaks because."), 4, "did not answer in the form that was asked for"),
        (Says(""), 4, "openai:gpt-5-mini gave an empty answer"),
        (Says('{"cause": "A', reason="length"), 4,
         "was cut after 8000 tokens; give it more with --max-tokens"),
    ],
)  # fmt: skip
def test_each_failure_is_one_line_and_has_its_exit_code(
    project: Project, step: Any, code: int, said: str
) -> None:
    project.capture()
    with serve(step) as server:
        done = project(*ASK, **_keyed(server))
    assert (done.code, done.out) == (code, "")
    lines = done.err.strip("\n").split("\n")
    # Before it, only the reasons of the first tries.
    assert all(line.endswith(("trying again in 1 s", "in 2 s", "in 4 s")) for line in lines[:-1])
    assert lines[-1].startswith("fullgraph: ")
    assert said in lines[-1]
    assert "\x1b" not in done.err
    assert KEY not in done.err
    assert len(server.requests) <= 4


def test_a_second_try_helps_and_is_counted(project: Project) -> None:
    project.capture()
    with serve(Fails(503), Says(answer())) as server:
        done = project(*ASK, **server.environment())
    assert done.code == 0
    assert done.err.endswith("failed with status 503: no; trying again in 1 s\n")
    assert "in 2 requests" in done.out


def test_a_server_that_does_not_stream_and_one_without_schemas_are_understood(
    project: Project,
) -> None:
    project.capture()
    message = {"role": "assistant", "content": answer()}
    whole = {
        "id": "1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 6, "total_tokens": 11},
    }  # fmt: skip
    refuses = Fails(400, {"error": {"message": "Unknown field: response_format"}})
    with serve(refuses, Raw(json.dumps(whole).encode(), "application/json")) as server:
        done = project(*ASK, **server.environment())
    assert done.code == 0
    assert "5 tokens in, 6 out" in done.out
    assert ["response_format" in each.body for each in server.requests] == [True, False, False]
    assert [each.body.get("stream", False) for each in server.requests] == [True, True, False]


def test_the_time_limit_covers_everything(project: Project) -> None:
    project.capture()
    with serve(Hangs()) as server:
        done = project(*ASK, "--timeout", "0.2", **server.environment())
    assert done.code == 3
    assert done.err == (
        "fullgraph: openai:gpt-5-mini did not answer within 0.2 s; give it more with --timeout\n"
    )


def test_a_limit_of_cost_is_kept_and_an_unknown_price_is_not_zero(project: Project) -> None:
    project.capture()
    with serve(Says(answer())) as server:
        cheap = project(*ASK, "--max-cost", "0.1", **server.environment())
        dear = project(*ASK, "--max-cost", "0.001", **server.environment())
        unknown = project(
            *ASK[:3], "--model", "openai:my-own", "--max-cost", "9", **server.environment()
        )
    assert [each.code for each in (cheap, dear, unknown)] == [0, 2, 2]
    assert "more than --max-cost 0.001; lower --max-tokens, or raise --max-cost" in dear.err
    assert "the price of openai:my-own is not known, so --max-cost cannot be kept" in unknown.err
    assert len(server.requests) == 1


def test_options_of_the_model_need_ai(project: Project) -> None:
    for option in (["--model", "openai:x"], ["--show-prompt"], ["-o", "x"], ["--timeout", "120"]):
        done = project("explain", "GB0124", *option)
        assert (done.code, done.err) == (
            2, f"fullgraph: {option[0]} needs --ai; see fullgraph explain --help\n",
        )  # fmt: skip


def test_the_result_can_be_written_to_a_file(project: Project) -> None:
    project.capture()
    with serve(Says(answer())) as server:
        done = project(*ASK, "--format", "json", "-o", "why.json", **server.environment())
    assert (done.code, done.out) == (0, "")
    assert json.loads((project.folder / "why.json").read_text())["answer"] == GOOD


# In a terminal.


def test_text_is_shown_while_it_arrives_and_the_checks_below_it(project: Project) -> None:
    project.capture()
    more = threading.Event()
    wrong = answer(cause="Reads a number.", names=["torch.nope"])
    parts = [wrong[:20], wrong[20:]]
    with serve(Says(parts, then_waits=more)) as server:
        terminal = project.in_terminal(*ASK, **server.environment())
        terminal.wait_for("cause     Reads")
        assert "checked" not in terminal.shown.replace("not checked yet", "")
        more.set()
        done = terminal.end()
    assert done.code == 0
    assert done.out.index("not checked yet, as the model writes it:") < done.out.index("Reads")
    below = done.out[done.out.index("Reads") :]
    assert "wrong: name torch.nope: torch 2.13.0 has no such name" in below
    assert "used      1200 tokens in, 300 out" in below


def test_what_takes_a_moment_is_said_on_a_line_that_goes_again(project: Project) -> None:
    project.capture()
    with serve(Fails(503), Says(pieces(answer()))) as server:
        done = project.in_terminal(*ASK, with_errors=True, **server.environment()).end()
    clear = "\r\x1b[K"
    assert done.out.count(clear) == 5
    first, then, gone, last, rest = done.out.split(clear)[1:]
    assert first == "  asking openai:gpt-5-mini …"
    assert then.endswith("status 503: no; trying again in 1 s\n")
    assert gone.startswith("not checked yet")
    assert "return x / torch.clamp" in gone
    assert last == "  checking what the model claims …"
    assert rest.startswith("sure      high")


def test_a_terminal_gets_no_sequence_also_if_it_is_split(project: Project) -> None:
    project.capture()
    # Once as JSON escapes, once as the characters themselves, each cut everywhere.
    evil = "A\x1b[31mred\x1b]0;title\x07B\x9b2JC\rD\x08E\u202eF"
    text = answer(cause=evil, why=evil).replace('"why": "A\\u001b[31m', '"why": "A\x1b[31m')
    with serve(Says(list(text))) as server:
        done = project.in_terminal(*ASK, **server.environment()).end()
        piped = project(*ASK, **server.environment())
    for shown in (done.out, piped.out):
        assert "Ared" in shown
        assert not {"\x1b", "\x9b", "\x07", "\x08", "\u202e", "\r"} & set(shown)
        assert "[31m" not in shown
        assert "title" not in shown


def test_an_answer_that_breaks_off_in_a_terminal_ends_with_one_line(project: Project) -> None:
    project.capture()
    with serve(Cut(['{"cause": "Half of a'])) as server:
        done = project.in_terminal(*ASK, **server.environment()).end()
    assert done.code == 3
    assert done.out.endswith("cause     Half of a\n")
    assert done.err.count("\n") == 1
    assert "was cut in the middle of the answer; ask again" in done.err


def test_control_c_ends_with_130(project: Project) -> None:
    project.capture()
    with serve(Says(pieces(answer(), 20), then_waits=threading.Event())) as server:
        terminal = project.in_terminal(*ASK, **server.environment())
        terminal.wait_for("not checked yet")
        terminal.interrupt()
        done = terminal.end()
    assert done.code == 130
    assert done.err == "fullgraph: interrupted\n"


# What must not leave.


@pytest.mark.parametrize(
    ("provider", "model", "variable"),
    [
        ("openai", "gpt-5-mini", "OPENAI_API_KEY"),
        ("anthropic", "claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
        ("google", "gemini-2.5-flash", "GEMINI_API_KEY"),
    ],
)
def test_every_provider_answers_and_the_key_is_only_in_a_header(
    project: Project, provider: str, model: str, variable: str
) -> None:
    project.capture()
    import_module(f"fullgraph.ai.providers.{provider}")
    environment = {variable: KEY, "FULLGRAPH_MODEL": f"{provider}:{model}"}
    with serve(Says(pieces(answer()))) as server:
        environment |= server.environment(provider)
        done = project("explain", "--ai", "model.py:11", **environment)
        (request,) = server.requests
    assert done.code == 0, done.err
    assert "1200 tokens in, 300 out, $0.00" in done.out
    assert request.provider == provider
    assert KEY in "".join(request.headers.values())
    assert KEY not in request.path + json.dumps(request.body) + done.out + done.err
    assert not [path for path in project.files() if KEY.encode() in path.read_bytes()]
    shown = project("explain", "--ai", "model.py:11", "--show-prompt").out
    assert request.system in shown
    assert request.user in shown


@pytest.mark.parametrize("provider", ["anthropic", "google"])
def test_other_providers_fail_in_the_same_words(project: Project, provider: str) -> None:
    project.capture()
    import_module(f"fullgraph.ai.providers.{provider}")
    model = {"anthropic": "claude-sonnet-4-5", "google": "gemini-2.5-flash"}[provider]
    for step, code, said in (
        (Fails(401), 2, "wants a key (401); set"),
        (Fails(404), 2, f"has no model {model} (404)"),
        (Fails(429, headers={"retry-after": "3600"}), 3, "(429): no; try again in 60 minutes"),
        (Fails(500), 3, "failed with status 500: no; 3 tries failed"),
        (Raw(b"<html>"), 3, "answered with something that is not JSON; 3 tries failed"),
        (Raw(b"data: {nonsense\n\n", "text/event-stream"), 3, "something that is not JSON"),
        (Cut(['{"cau']), 3, "was cut in the middle of the answer; ask again"),
        (Cut(['{"cau'], politely=True), 3, "was cut in the middle of the answer; ask again"),
        (Says("", reason="content_filter"), 4, "refused to answer"),
        (Says("A", reason="length"), 4, "was cut after 8000 tokens"),
        (Says(""), 4, "gave an empty answer"),
    ):
        with serve(step) as server:
            done = project(
                *ASK[:3], "--model", f"{provider}:{model}", **server.environment(provider)
            )
        assert (done.code, done.out) == (code, ""), (step, done)
        assert said in done.err.strip("\n").split("\n")[-1], (step, done.err)


def test_nothing_but_the_server_is_contacted(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Prices come from a file: a download would fail here."""
    project.capture()
    connect = socket.socket.connect

    def only_loopback(self: socket.socket, address: Any) -> None:
        assert address[0] == "127.0.0.1", f"a connection to {address}"
        connect(self, address)

    def no_names(*args: Any, **_: Any) -> Any:
        assert args[0] in ("127.0.0.1", b"127.0.0.1"), f"a look-up of {args[0]}"
        return look_up(*args)

    look_up = socket.getaddrinfo
    monkeypatch.setattr(socket.socket, "connect", only_loopback)
    monkeypatch.setattr(socket, "getaddrinfo", no_names)
    with serve(Says(answer())) as server:
        done = project(*ASK, "--max-cost", "1", **server.environment())
    assert done.code == 0, done.err
    assert "$0.0009" in done.out
