"""From a `Subject` to the `Prompt` that is sent, and the same text for `--show-prompt`."""

from __future__ import annotations

import json
import os

from fullgraph.ai.answer import FORM
from fullgraph.ai.facts import Block, Subject, strip_code, strip_lines
from fullgraph.ai.keys import configured_values
from fullgraph.ai.masking import mask_secrets, relative_paths
from fullgraph.ai.prompts import fenced, instructions
from fullgraph.ai.protocol import Prompt


def explain_prompt(subject: Subject, *, with_source: bool) -> Prompt:
    """Return the prompt of one question: secrets masked, paths relative, data fenced."""
    chosen = instructions("explain")
    facts = "\n".join(f"F{number}  {text}" for number, text in enumerate(subject.facts, start=1))
    blocks = [Block("facts", facts, has_source=True), *subject.blocks]
    # Nothing but fixed words is outside of the fences: also the name of a file is data.
    parts = ["Explain the graph break that the facts describe."]
    parts += [fenced(block.title, _data(block, subject, with_source)) for block in blocks]
    return Prompt(chosen.label, chosen.text, "\n\n".join(parts), FORM)


def _data(block: Block, subject: Subject, with_source: bool) -> str:
    text = block.text
    if block.has_source and not with_source:
        text = strip_lines(strip_code(text), subject.files)
    return _safe(text, subject)


def _safe(text: str, subject: Subject) -> str:
    text = relative_paths(text, subject.folders, os.path.expanduser("~"))
    return mask_secrets(text, configured_values())


def shown_prompt(prompt: Prompt) -> str:
    """Return all that is sent, as text."""
    form = json.dumps(prompt.form, indent=2)
    return (
        f"--- system ({prompt.name}) ---\n{prompt.system}\n\n"
        f"--- user ---\n{prompt.user}\n\n"
        f"--- form of the answer ---\n{form}\n"
    )
