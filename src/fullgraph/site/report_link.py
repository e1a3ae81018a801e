"""The link that starts a report about a graph break to PyTorch."""

from __future__ import annotations

from urllib.parse import urlencode

from fullgraph.site.model import BreakPage
from fullgraph.site.placeholders import plain

_ISSUES = "https://github.com/pytorch/pytorch/issues/new"
# GitHub cuts longer titles, and some types are whole sentences.
_LONGEST_TYPE = 120


def report_link(each: BreakPage, address: str) -> str:
    """Return the URL of a new issue for pytorch/pytorch, with a title and the parts to fill in."""
    kind = " ".join(plain(each.page.type).split())
    shown = kind if len(kind) <= _LONGEST_TYPE else f"{kind[:_LONGEST_TYPE].rsplit(' ', 1)[0]} …"
    page = f" ({address}{each.path})" if address else ""
    body = (
        f"Graph break {each.id}{page}: {shown}\n\n"
        "### What the program does, and why it should compile as one graph\n\n\n"
        "### Smallest program that shows it\n\n"
        "```python\nimport torch\n\n\n```\n\n"
        "### What torch prints (`TORCH_LOGS=graph_breaks`)\n\n```\n\n```\n\n"
        "### Versions (`python -m torch.utils.collect_env`)\n\n```\n\n```\n"
    )
    return f"{_ISSUES}?{urlencode({'title': f'[dynamo] {each.id}: {shown}', 'body': body})}"
