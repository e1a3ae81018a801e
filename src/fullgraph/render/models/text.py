"""Models and providers for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fullgraph.render._lines import joined
from fullgraph.terminal import Terminal

if TYPE_CHECKING:
    from fullgraph.ai.reachability import ModelState, ProviderState, Reachability

_MOST = 8


def render(found: Reachability, *, width: int = 80, color: bool = False, **_: object) -> str:
    """Return the chosen model, then the providers, then what to set if there is nothing."""
    terminal = Terminal(width, color)
    lines: list[str] = []
    if found.model is not None:
        lines += [*_model_lines(found.model, terminal), ""]
    for each in found.providers:
        lines += _provider_lines(each, terminal)
    if found.model is None:
        example = "FULLGRAPH_MODEL=google:gemini-2.5-flash"
        lines += ["", *terminal.wrapped(
            f"No model is chosen. Set one, such as {example}, and its key; a server of your own, "
            "such as Ollama, needs OPENAI_BASE_URL=http://localhost:11434/v1 and "
            "FULLGRAPH_MODEL=openai:NAME, and no key."
        )]  # fmt: skip
    return joined(lines)


def _model_lines(model: ModelState, terminal: Terminal) -> list[str]:
    if not model.answers:
        said = terminal.style("does not answer", "red")
        return [f"{model.name} {said}", *terminal.wrapped(model.problem, "  ", "  ")]
    cost = "price unknown" if model.cost is None else f"${model.cost:.4f}"
    said = terminal.style("answers", "green")
    return [f"{model.name} {said} ({model.seconds:.1f} s, {cost})"]


def _provider_lines(provider: ProviderState, terminal: Terminal) -> list[str]:
    key = f"key from {provider.key}" if provider.key else "no key"
    where = provider.address if provider.own_address else ""
    parts = [key, *([where] if where else [])]
    if not provider.installed:
        parts.append(f"not installed: pip install 'fullgraph[{provider.name}]'")
    lines = terminal.labelled(provider.name, ", ".join(parts))
    if provider.answers:
        names = ", ".join(provider.models[:_MOST])
        more = len(provider.models) - _MOST
        rest = f" and {more} more" if more > 0 else ""
        lines += terminal.labelled("", f"answers; models: {names}{rest}" if names else "answers")
    elif provider.answers is not None:
        lines += terminal.labelled("", f"does not answer: {provider.problem}")
    return lines
