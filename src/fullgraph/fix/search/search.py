"""Break after break: try what could remove it, keep what is proven, look again.

Settings come first, for all breaks at once, then rewrites one by one, then value guards, then
what helps only a part; then the same again, because breaks come into view behind those that are
gone. What is kept at the end is what is needed: every step is left out once, to see whether it
makes a difference.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

from fullgraph.fix.fixers import Fixer, Spot, all_fixers
from fullgraph.fix.model import Candidate, Kind, MendError, Plan, Trial
from fullgraph.fix.search.accept import (
    Attempt,
    Peeled,
    Shop,
    Step,
    harm,
    least_safe,
    plan_of,
    score,
    without_step,
)
from fullgraph.model.report import Cause

# Everything is proven with these.
BACKENDS = ("eager", "aot_eager")
Tell = Callable[[str], None]
# Each may uncover breaks behind it, but not without end.
_MOST_NEW = 4
# A trial may take this long, or three times as long as the program itself.
_PATIENCE = 30.0
_NO_SOURCE = Attempt("reading its source", "there is no file that could be read")


class Peeler:
    def __init__(
        self,
        shop: Shop,
        *,
        deadline: float,
        tell: Tell,
        fixers: Iterable[Fixer] | None = None,
        backends: Iterable[str] = (),
    ) -> None:
        self._shop = shop
        self._deadline = deadline
        self._tell = tell
        self._backends = (*BACKENDS, *backends)
        self._fixers = list(all_fixers() if fixers is None else fixers)
        self._steps: list[Step] = []
        self._plan = Plan()
        self._patience = _PATIENCE
        self._tried: dict[str, list[Attempt]] = {}
        self._failed: set[tuple[str, str]] = set()
        # What the proof did not bear.
        self._dropped: set[str] = set()
        # Plans on top of which all settings together were tried.
        self._settings_tried: set[str] = set()
        self._stages = (self._settings, self._rewrites, self._guards, self._parts)

    def run(self) -> Peeled:
        self._tell("running it as it is")
        started = time.monotonic()
        baseline = self._shop.answer(self._shop.ask("reference"))
        _require(baseline)
        self._baseline = self._now = baseline
        if self._shop.runs_anew:
            _require(self._ask([], varied=False))
        self._patience = max(_PATIENCE, 3 * (time.monotonic() - started))
        proof = self._peel_and_prove()
        return Peeled(
            baseline=baseline,
            final=proof.pop("eager"),
            deeper=proof,
            plan=self._plan,
            steps=tuple(self._steps),
            tried={name: tuple(each) for name, each in self._tried.items()},
            out_of_time=self._late(),
        )

    def _peel_and_prove(self) -> dict[str, Trial]:
        """What the proof drops may have kept something better from being tried: peel again."""
        proof, proven_plan = {"eager": self._baseline}, Plan()
        while True:
            while self._causes() and not self._late():
                if not any(stage() for stage in self._stages):
                    break
            self._ease()
            self._leave_out_what_is_not_needed()
            if self._plan == proven_plan:
                return proof
            proof, whole = self._proven()
            if whole or self._late():
                return proof
            proven_plan, self._now = self._plan, proof["eager"]

    def _late(self) -> bool:
        return time.monotonic() > self._deadline

    def _causes(self) -> tuple[Cause, ...]:
        return self._now.report.causes if self._now.report else ()

    # The stages. Each says whether it has kept something.

    def _settings(self) -> bool:
        """All settings that could help, together."""
        found = list(self._candidates(lambda fixer: fixer.kind == "setting"))
        situation = repr(self._plan)
        if not found or situation in self._settings_tried:
            return False
        self._settings_tried.add(situation)
        return self._try(found)

    def _rewrites(self) -> bool:
        return self._one_by_one(("rewrite", "hoist"))

    def _one_by_one(self, kinds: tuple[Kind, ...]) -> bool:
        """Each from what the ones before have made of the program."""
        kept = False
        while not self._late():
            found = self._candidates(lambda fixer: fixer.kind in kinds)
            if not any(self._try([each]) for each in found):
                return kept
            kept = True
        return kept

    def _guards(self) -> bool:
        """Value guards, alone or with the settings that may have failed without them."""
        guards = _one_a_fixer(self._candidates(lambda fixer: fixer.kind == "guard"))
        if not guards:
            return False
        settings = self._candidates(lambda fixer: fixer.kind == "setting", again=True)
        both = [*guards, *_one_a_fixer(settings)]
        # At the same time, as there are mostly two cores.
        bundles = [guards, both] if len(both) > len(guards) else [guards]
        kept = self._try_first(bundles)
        return self._guards_instead_of_settings(guards[0]) or kept

    def _guards_instead_of_settings(self, guard: tuple[Cause, Candidate]) -> bool:
        """A symbol that a setting makes is not known, where a guard would know the value."""
        rest = [step for step in self._steps if step.candidate.kind != "setting"]
        if not self._causes() or len(rest) == len(self._steps) or self._late():
            return False
        cause, candidate = guard
        if all(step.candidate.kind != "guard" for step in rest):
            rest.append(Step(candidate, cause, self.identity(cause)))
        trial = self._ask(rest, varied=False, seconds=self._patience)
        if trial.error or trial.differences or score(trial) >= score(self._now):
            return False
        self._start_over(rest, trial)
        return True

    def _parts(self) -> bool:
        """One setting, or one escape."""
        settings = _one_a_fixer(self._candidates(lambda fixer: fixer.kind == "setting"))
        escapes = self._candidates(lambda fixer: fixer.kind == "escape")
        return any(self._try([each]) for each in (*settings, *escapes))

    def _ease(self) -> None:
        """What makes breaks that stay less bad."""
        self._one_by_one(("ease",))

    def _candidates(
        self, wanted: Callable[[Fixer], bool], *, again: bool = False
    ) -> Iterator[tuple[Cause, Candidate]]:
        """What could be tried now and was not tried in vain; `again` lets that pass."""
        for cause in self._causes():
            text = self._text(cause.file)
            if text is None:
                # Nothing can be rewritten there; settings and guards need no source.
                attempts = self._tried.setdefault(self.identity(cause), [])
                attempts += [] if _NO_SOURCE in attempts else [_NO_SOURCE]
            spot = Spot(cause, text or "", self._text)
            for fixer in self._fixers:
                for candidate in fixer.candidates(spot) if wanted(fixer) else ():
                    if _about(candidate, self.identity(cause)) in self._dropped:
                        continue
                    if again or self._mark(cause, candidate) not in self._failed:
                        yield cause, candidate

    def _mark(self, cause: Cause, candidate: Candidate) -> tuple[str, str]:
        change = candidate.file.text if candidate.file else repr(sorted(candidate.settings))
        situation = f"{self._plan.guards} {sorted(self._plan.settings)}"
        return f"{_about(candidate, self.identity(cause))} {situation}", change

    # Trying

    def _try(self, chosen: list[tuple[Cause, Candidate]]) -> bool:
        return self._try_first([chosen])

    def _try_first(self, bundles: list[list[tuple[Cause, Candidate]]]) -> bool:
        """Try several bundles side by side; keep the best, and of equals the first."""
        asked = [(bundle, self._start(bundle)) for bundle in bundles if not self._late()]
        done = [(bundle, self._shop.answer(number)) for bundle, number in asked if number]
        good = [each for each in done if not self._refused(*each)]
        if not good:
            return False
        self._keep(*min(good, key=lambda each: score(each[1])))
        return True

    def _start(self, chosen: list[tuple[Cause, Candidate]]) -> int | None:
        plan = self._with(chosen)
        if plan == self._plan:
            return None
        effects = least_safe([*(s.candidate for s in self._steps), *(c for _, c in chosen)])
        self._tell(f"trying {', '.join(dict.fromkeys(c.title for _, c in chosen))}")
        return self._shop.ask("trial", plan, effects, varied=False, seconds=self._patience)

    def _with(self, chosen: list[tuple[Cause, Candidate]]) -> Plan:
        plan = self._plan
        for _, candidate in chosen:
            plan = candidate.added_to(plan)
        return plan

    def _refused(self, chosen: list[tuple[Cause, Candidate]], trial: Trial) -> bool:
        eases = all(candidate.kind == "ease" for _, candidate in chosen)
        causes = [] if eases else [cause for cause, _ in chosen]
        why = self._objection(trial, self._with(chosen), causes)
        for cause, candidate in chosen if why else ():
            if len(chosen) == 1 or candidate.kind != "setting":
                self._failed.add(self._mark(cause, candidate))
            attempts = self._tried.setdefault(self.identity(cause), [])
            if Attempt(candidate.title, why) not in attempts:
                attempts.append(Attempt(candidate.title, why))
        return bool(why)

    def _keep(self, chosen: list[tuple[Cause, Candidate]], trial: Trial) -> None:
        plan = self._with(chosen)
        left = {self.identity(cause, plan) for cause in trial.report.causes} if trial.report else ()
        # A setting that helps several breaks is kept once, for one that is gone.
        chosen = sorted(chosen, key=lambda each: self.identity(each[0]) in left)
        for cause, candidate in _one_a_change(chosen):
            before = self._text(candidate.path or cause.file) or ""
            after = candidate.file.text if candidate.file else before
            self._steps.append(Step(candidate, cause, self.identity(cause), before, after))
        self._plan, self._now = plan, trial

    def _objection(self, trial: Trial, plan: Plan, causes: list[Cause]) -> str:
        """Why a trial is not good enough; empty if it is. `causes` are to be gone."""
        if trial.error or trial.report is None:
            return trial.error or "nothing could be captured"
        if trial.differences:
            first = trial.differences[0]
            return f"{first.mode}, {first.sample}: {first.what}"
        if trial.recompiled > self._now.recompiled:
            return f"the second and third call compile {trial.recompiled} more"
        before, after = score(self._now), score(trial)
        known = {self.identity(cause) for cause in self._causes()}
        left = {self.identity(cause, plan) for cause in trial.report.causes}
        if causes and {self.identity(cause) for cause in causes} <= left:
            return "the break is still there"
        if not causes:
            fewer = harm(trial) == harm(self._now) and after < before
            better = fewer or harm(trial) < harm(self._now)
            return "" if better else "it is no better than before"
        if after < before:
            return ""
        places = {(cause.file, cause.function) for cause in causes}
        for cause in trial.report.causes:
            if (cause.file, cause.function) in places and self.identity(cause, plan) not in known:
                return f"another break takes its place: {cause.type}"
        if after[0] > before[0] + _MOST_NEW:
            return f"{after[0] - before[0]} breaks come into view"
        return ""

    # What is what

    def _text(self, file: str, plan: Plan | None = None) -> str | None:
        files = (plan or self._plan).files
        if file in files:
            return files[file].text
        try:
            return Path(file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None

    def identity(self, cause: Cause, plan: Plan | None = None) -> str:
        """A break by what it says, not by its line: lines move. `plan` is what it was met with."""
        text = self._text(cause.file, plan)
        line = "" if text is None else Spot(cause, text, self._text).line.strip()
        return f"{cause.id} {cause.type} {cause.file} {cause.function} {line}"

    # At the end

    def _leave_out_what_is_not_needed(self) -> None:
        eases = [step for step in self._steps if step.candidate.kind == "ease"]
        if len(eases) < len(self._steps) and score(self._now) >= score(self._baseline):
            self._start_over([])
        for step in reversed(self._steps):
            without = without_step(self._steps, step)
            if not without or step in eases or self._late():
                continue
            trial = self._ask(without, varied=False)
            if not trial.error and not trial.differences and score(trial) <= score(self._now):
                self._start_over(without, trial)

    def _start_over(self, steps: list[Step], trial: Trial | None = None) -> None:
        self._steps, self._plan = steps, plan_of(steps)
        self._now = trial or self._baseline

    def _ask(self, steps: list[Step], **more: Any) -> Trial:
        effects = least_safe(step.candidate for step in steps)
        return self._shop.answer(self._shop.ask("trial", plan_of(steps), effects, **more))

    def _proven(self) -> tuple[dict[str, Trial], bool]:
        """The proof of what is kept, by backend, and whether all steps have borne it."""
        whole = True
        while self._steps:
            self._tell("proving it with other inputs")
            asked = {backend: self._asked(self._steps, backend) for backend in self._backends}
            trials = {backend: self._shop.answer(number) for backend, number in asked.items()}
            why = next(filter(None, map(self._doubt, trials.values())), "")
            if not why:
                return trials, whole
            self._drop_one(why)
            whole = False
        return {"eager": self._baseline}, whole

    def _asked(self, steps: list[Step], backend: str) -> int:
        effects = least_safe(step.candidate for step in steps)
        # Others take too long to compile for every variation.
        varied = backend in BACKENDS
        return self._shop.ask("trial", plan_of(steps), effects, backend=backend, varied=varied)

    def _doubt(self, trial: Trial) -> str:
        if trial.error:
            return trial.error
        if trial.differences:
            first = trial.differences[0]
            return f"{first.mode}, {first.sample}: {first.what}"
        if trial.recompiled > self._baseline.recompiled:
            return "the second and third call compile more"
        known = self._baseline.report.summary.sites if self._baseline.report else 0
        if trial.varied_sites > known and trial.varied_sites > self._varied_sites_today:
            return f"{trial.varied_sites} breaks where there were {self._varied_sites_today}"
        return ""

    @cached_property
    def _varied_sites_today(self) -> int:
        """How often the program as it is breaks with other inputs; rarely asked, so only then."""
        return self._ask([]).varied_sites

    def _drop_one(self, why: str) -> None:
        """The step that is to blame; the last one where it cannot be told."""
        for step in reversed(self._steps):
            without = without_step(self._steps, step)
            if not self._late() and not self._doubt(self._ask(without, backend="aot_eager")):
                break
        else:
            step = self._steps[-1]
        attempts = self._tried.setdefault(step.about, [])
        attempts.append(Attempt(step.candidate.title, f"with other inputs: {why}"))
        self._start_over(without_step(self._steps, step))
        # Never again: each round of peeling drops another one, or is the last.
        self._dropped.add(_about(step.candidate, step.about))


def _about(candidate: Candidate, identity: str) -> str:
    """A rewrite is about one break; a setting or a guard is about all of them."""
    return f"{candidate.title} {identity if candidate.file is not None else ''}"


def _one_a_fixer(found: Iterable[tuple[Cause, Candidate]]) -> list[tuple[Cause, Candidate]]:
    return list({candidate.fixer: (cause, candidate) for cause, candidate in found}.values())


def _one_a_change(chosen: list[tuple[Cause, Candidate]]) -> list[tuple[Cause, Candidate]]:
    changes = {repr((c.fixer, c.settings, c.path)): (cause, c) for cause, c in reversed(chosen)}
    return list(changes.values())[::-1]


def _require(baseline: Trial) -> None:
    if baseline.error or baseline.report is None:
        raise MendError(f"the program cannot be run again: {baseline.error}")
    if baseline.differences:
        first = baseline.differences[0]
        raise MendError(
            f"the program is not deterministic ({first.sample}: {first.what}), so nothing can be "
            "proven about it: seed it"
        )
