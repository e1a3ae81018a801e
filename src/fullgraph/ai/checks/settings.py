"""Settings: whether this torch has them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fullgraph.ai.answer import Answer
from fullgraph.ai.checks import Check, CheckContext, prose

ORDER = 30

_IN_TEXT = re.compile(r"(?<![\w.])torch(?:\.\w+)*\.(?:config|_config)(?:\.[A-Za-z_]\w*)+")


def check(answer: Answer, context: CheckContext) -> Iterator[Check]:
    """Yield a check for each setting that the answer uses."""
    claimed = [re.split(r"[=\s(]", each.strip("` "), maxsplit=1)[0] for each in answer.settings]
    found = _IN_TEXT.findall(f"{prose(answer)}\n{answer.snippet}")
    for name in dict.fromkeys(each for each in [*claimed, *found] if each):
        yield _check_setting(name, context)


def _check_setting(name: str, context: CheckContext) -> Check:
    release = context.torch.release
    if name.isupper():
        known = context.torch.reads_variable(name)
        why = f"{release} {'reads' if known else 'does not read'} this variable"
        return Check("setting", name, known, why)
    known = context.torch.has_setting(name)
    return Check("setting", name, known, f"{release} has {'it' if known else 'no such setting'}")
