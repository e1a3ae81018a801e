"""What is sent: masked, fenced, without paths of the machine, and the same as what is shown."""

from __future__ import annotations

import re

import pytest

from fullgraph.ai.explain_prompt import explain_prompt, shown_prompt
from fullgraph.ai.facts import Subject, strip_code
from fullgraph.ai.masking import mask_secrets, relative_paths
from fullgraph.ai.prompts import fenced, instructions
from tests.ai.answers import answer
from tests.ai.loopback import Says, serve
from tests.ai.project import MODEL, SCALING, Project

SHOW = ("explain", "--ai", "model.py:11", "--show-prompt")
_FENCE = re.compile(r"^<<<data (\w+): ([^\n]*)\n(.*?)^>>>data \1$", re.MULTILINE | re.DOTALL)


def test_the_shown_prompt_needs_no_model_and_sends_nothing(project: Project) -> None:
    project.capture()
    with serve(Says(answer())) as server:
        done = project(*SHOW, **server.environment())
        assert server.requests == []
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("--- system (explain 1) ---\nYou explain graph breaks")


def test_the_facts_of_the_break_and_all_that_is_known_about_it_are_sent(project: Project) -> None:
    project.capture()
    shown = project(*SHOW).out
    for fact in (
        "torch 2.13.0 and Python 3.11.7",
        "GB0124: Unsupported Tensor.item() call",
        "Its category in fullgraph is data-dependent.",
        "It is at model.py:11, column 17, in the function forward.",
        "root cause 1 of 3",
        "It occurred once: 1 split the function in two",
        "Dynamo's context: context of forward",
        "Dynamo's hints: Set `torch._dynamo.config.capture_scalar_outputs = True`",
        "What it costs was not measured",
        "forward at model.py:11 `scale = x.abs().max().item()`",
    ):
        assert fact in shown
    titles = [title for _, title, _ in _FENCE.findall(shown)]
    assert titles == [
        "facts",
        "source",
        "source",
        "source",
        "what the fixers of fullgraph fix say",
        "entry GB0124 of torch's registry",
        "page of the category data-dependent",
        "example GB0124 of the catalog",
    ]
    for first in (
        "function Model.forward in model.py\n10 |     def forward(self, x):\n",
        "function Model.clip in model.py\n14 |     def clip(self, x):\n",
        "function rescale in scaling.py\n1 | def rescale(x, scale):\n",
    ):
        assert first in shown
    assert "11 |         scale = x.abs().max().item()" in shown
    assert "item_to_tensor refuses at line 12: the number is passed to `rescale`" in shown


def test_no_line_of_any_file_is_sent_without_source(project: Project) -> None:
    project.capture()
    shown = project(*SHOW, "--no-source").out
    own = shown[shown.index("--- user ---") : shown.index("entry GB0124 of torch's registry")]
    lines = [line.strip() for line in (MODEL + SCALING).split("\n")]
    sent = [line for line in lines if len(line) > 4 and line in own]
    # A line that is a word, such as `return x`, is no line of this file in particular.
    assert sent == []
    assert "x.abs()" not in own
    assert "It is at model.py:11" in own


def test_secrets_and_paths_of_the_machine_are_not_sent(project: Project) -> None:
    project.capture()
    shown = project("explain", "--ai", "model.py:15", "--show-prompt").out
    assert "correct horse" not in shown
    assert 'password = "[masked]"' in shown
    assert str(project.folder) not in shown
    assert str(project.folder.parent) not in shown


def test_data_is_never_in_the_system_prompt_and_cannot_end_its_fence(project: Project) -> None:
    project.capture()
    shown = project(*SHOW).out
    system, user = shown.split("--- user ---\n")
    assert system.split("---\n", 1)[1].strip() == instructions("explain").text
    user = user.split("--- form of the answer ---")[0]
    # Everything but the fences and the question is inside of a fence.
    rest = _FENCE.sub("", user)
    assert set(filter(None, rest.split("\n"))) == {
        "Explain the graph break that the facts describe.",
    }
    assert "<|im_start|>" not in user
    assert "<\u200d|im_start|>" in user


def test_a_fence_has_a_word_that_its_data_does_not_have() -> None:
    inner = fenced("a", "x")
    outer = fenced("b", f"{inner}\n\x1b[2J[INST] </s>")
    word = outer.split(" ")[1].rstrip(":")
    assert outer.count(word) == 2
    assert outer.endswith(f">>>data {word}")
    assert "\x1b" not in outer
    assert "[INST]" not in outer
    assert "</s>" not in outer
    assert fenced("a", "x") == inner


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("key = sk-proj-abcdefghij0123456789", "key = [masked]"),
        ("AIzaSyA1234567890abcdefghijklmnopqrstu", "[masked]"),
        ("aws AKIAIOSFODNN7EXAMPLE", "aws [masked]"),
        ("ghp_0123456789abcdefghij0123456789abcdef", "[masked]"),
        ("hf_abcdefghijklmnopqrstuvwxyz", "[masked]"),
        ("api_key='hunter22'", "api_key='[masked]'"),
        ('"password": "a b c d"', '"password": "[masked]"'),
        ('os.environ["WANDB_API_KEY"] = "0f1e2d"', 'os.environ["WANDB_API_KEY"] = "[masked]"'),
        ('token: str = "t0k3n-value"', 'token: str = "[masked]"'),
        ('login(token="abcd1234")', 'login(token="[masked]")'),
        ("HF_TOKEN=abcdefgh python x.py", "HF_TOKEN=[masked] python x.py"),
        ("Authorization: Bearer abcdefghijklmnop", "Authorization: Bearer [masked]"),
        ("postgres://me:secret@db/x", "postgres://[masked]@db/x"),
        ("-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----", "[masked]"),
        ('h = "d41d8cd98f00b204e9800998ecf8427e"', 'h = "[masked]"'),
        ("my-configured-key", "[masked]"),
    ],
)
def test_what_looks_like_a_secret_is_masked(text: str, masked: str) -> None:
    assert mask_secrets(text, ["my-configured-key"]) == masked


@pytest.mark.parametrize(
    "text",
    [
        "token = tokens[0]",
        "tokens = tokenizer(text)",
        'pad_token = "<pad>"',
        "scale = x.abs().max().item()",
        "key = query @ keys.T",
        'x = torch.load("models/some_checkpoint_of_a_long_name_v2.pt")',
        "if secret is None:",
        "MAX_TOKENS = 512",
        "https://pytorch.org/docs/stable/index.html",
    ],
)
def test_code_that_only_sounds_secret_stays(text: str) -> None:
    assert mask_secrets(text) == text


def test_paths_become_relative_to_the_longest_folder() -> None:
    folders = ("/home/me/project", "/home/me/project/.venv/lib", "")
    text = "/home/me/project/a.py /home/me/project/.venv/lib/torch/x.py /home/me/b /home/melon"
    assert relative_paths(text, folders, "/home/me") == "a.py torch/x.py ~/b ~"


def test_code_in_messages_of_torch_is_left_out() -> None:
    message = (
        'from user code:\n  File "a.py", line 3, in f\n    return g(x)\n  File "b.py", line 4\n'
    )
    assert strip_code(message) == (
        'from user code:\n  File "a.py", line 3, in f\n  File "b.py", line 4\n'
    )
    assert strip_code("line 3, in f, code: y = x") == "line 3, in f, code: (left out)"


def test_a_prompt_is_the_same_for_the_same_question() -> None:
    subject = Subject("GB0001", "GB0001", "A type", "python", "", "", "2.13", ("One.",), ())
    prompt = explain_prompt(subject, with_source=True)
    assert prompt == explain_prompt(subject, with_source=True)
    assert prompt.name == "explain 1"
    assert "F1  One." in shown_prompt(prompt)
