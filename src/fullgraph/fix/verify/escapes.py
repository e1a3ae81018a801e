"""What a change does to the compiler instead of to the program: it is no fix unless it is named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fullgraph.fix.source.text import parse
from fullgraph.fix.verify.change import FileChange
from fullgraph.fix.verify.names import added_uses
from fullgraph.model.owners import this_process

# By the last part of a name of torch.
_SENTENCES = {
    "disable": "switches the compiler off for a part of the program",
    "_disable_dynamo": "switches the compiler off for a part of the program",
    "graph_break": "asks for a graph break",
    "skip_frame": "makes Dynamo skip a function",
    "set_stance": "changes what torch.compile does",
    "error_on_graph_break": "changes what a graph break does",
    "suppress_errors": "hides errors of the compiler",
    "allow_in_graph": "hides a function from the compiler",
    "nonstrict_trace": "hides a function from the compiler",
    "leaf_function": "hides a function from the compiler",
    "assume_constant_result": "calls a function only once",
    "is_compiling": "runs other code when it is compiled",
    "is_dynamo_compiling": "runs other code when it is compiled",
    "custom_op": "hides a function from the compiler",
}
_SETTINGS = "torch._dynamo.config."


def escapes(changes: Iterable[FileChange]) -> tuple[str, ...]:
    """Return sentences about what a change adds that is for the compiler."""
    return tuple(dict.fromkeys(each for change in changes for each in _of_file(change)))


def _of_file(change: FileChange) -> Iterator[str]:
    old, new = parse(change.before or ""), parse(change.after or "")
    if old is None or new is None:
        return
    shown = this_process().display_path(change.path)
    for use in added_uses(old, new):
        if not use.name.startswith("torch"):
            continue
        sentence = _SENTENCES.get(use.name.rpartition(".")[2])
        if use.name.startswith(_SETTINGS) and use.is_stored:
            sentence = "changes a setting of the compiler"
        if sentence is not None:
            yield f"{shown}:{use.line} {sentence}: `{use.name}`"
