"""Calls of `torch.compiler.set_stance`, each with its effect on `torch.compile`."""

from __future__ import annotations

from fullgraph.analysis.state import AnalysisState
from fullgraph.model.events import Stance
from fullgraph.model.report import StanceFinding

_EFFECTS = {
    "force_eager": "compiled functions run in eager mode while it is set",
    "eager_on_recompile": "calls that need a new compile run in eager mode while it is set",
    "fail_on_recompile": "calls that need a new compile raise an error while it is set",
    "eager_then_compile": "the first call of a compiled function runs in eager mode while it is "
    "set",
    "aot_eager_then_compile": "the first call of a compiled function is compiled with the backend "
    "aot_eager while it is set",
}
_OTHER_EFFECT = "it changes what torch.compile does while it is set"


def list_stances(state: AnalysisState) -> tuple[StanceFinding, ...]:
    """Return the calls of `set_stance`; one that several processes make is one finding."""
    distinct = dict.fromkeys(event for _, event in state.events(Stance))
    return tuple(
        StanceFinding(event.stance, _call(event), _effect(event), event.caller)
        for event in distinct
    )


def _call(event: Stance) -> str:
    arguments = [f'"{event.stance}"'] if event.stance != "default" else []
    if event.skip_guard_eval_unsafe:
        arguments.append("skip_guard_eval_unsafe=True")
    if event.force_backend:
        arguments.append(f'force_backend="{event.force_backend}"')
    return f"torch.compiler.set_stance({', '.join(arguments)})"


def _effect(event: Stance) -> str:
    effects = [_EFFECTS.get(event.stance, _OTHER_EFFECT)] if event.stance != "default" else []
    if event.force_backend:
        effects.append(f"all functions are compiled with {event.force_backend} while it is set")
    if event.skip_guard_eval_unsafe:
        effects.append("most guards are not checked while it is set")
    return "; ".join(effects)
