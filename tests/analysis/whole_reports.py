"""Invented sessions, and the whole reports that the analysis is expected to make of them.

    python -m tests.analysis.whole_reports

writes `tests/analysis/expected` again, after a report was changed on purpose; read the diff of git.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

from fullgraph.analysis import analyze
from fullgraph.analysis.guards import analyze_guards, only_function
from fullgraph.model.changes import ENUMERATION
from fullgraph.model.events import (
    FORMAT_VERSION,
    Backward,
    Break,
    Call,
    ChangeKind,
    ChangePlace,
    Code,
    CodeLine,
    Compile,
    Cost,
    DynamicSize,
    End,
    Event,
    Frame,
    Gap,
    Graph,
    Guard,
    GuardChange,
    GuardFailure,
    Guards,
    Piece,
    Problem,
    Profile,
    Reason,
    Recompile,
    Resumption,
    Settings,
    Sizes,
    Skip,
    SourceLine,
    Stack,
    Stance,
    StaticSize,
)
from fullgraph.model.session import Header, Session

EXPECTED = Path(__file__).parent / "expected"
MODEL, LAYERS = "/home/me/model.py", "/home/me/layers.py"
PACKAGES = "/env/lib/python3.13/site-packages"
TORCH, LIBRARY = f"{PACKAGES}/torch", f"{PACKAGES}/modelhub/blocks.py"
STDLIB = "/env/lib/python3.13"
FORWARD = Code(MODEL, 10, "forward", "Model.forward")
REST = Code(MODEL, 10, "forward", "Model.forward", resumed_at=13)
STEP = Code(MODEL, 40, "step")
LAYER = Code(LAYERS, 5, "layer")
BLOCK = Code(LIBRARY, 7, "block", "Block.block")
TORCHS = Code(f"{TORCH}/_dynamo/external_utils.py", 60, "inner")


def header(process: int = 1, **facts: object) -> Header:
    known = {
        "format": FORMAT_VERSION, "fullgraph": "1.0", "torch": "2.13.0", "python": "3.13.1",
        "platform": "Linux", "directory": "/home/me", "process": process,
        "torch_folder": TORCH, "stdlib_folders": (STDLIB,), "package_folders": (PACKAGES,),
    }  # fmt: skip
    return Header(**{**known, **facts})  # type: ignore[arg-type]


def session(*events: Event) -> list[Session]:
    return [Session(header(), events)]


def frame(line: int, function: str = "forward", column: int | None = None) -> Frame:
    return Frame(MODEL, line, function, column)


def broken(
    compile_id: str, root: Code, type_: str, *frames: Frame, traced: int = 1,
    outcome: Resumption = "resumed", **facts: object,
) -> Break:  # fmt: skip
    reason = facts.pop("reason", None) or Reason(type_)
    excerpt = tuple(SourceLine(each.line, f"    y = call_{each.line}(x)") for each in frames[-1:])
    stack = Stack(frames, traced, excerpt)
    known = {"error": "Unsupported", "logged_by": "wrapper", **facts}
    return Break(compile_id, root, (reason,), stack, outcome, **known)  # type: ignore[arg-type]


# Breaks


def breaks() -> list[Session]:
    """Return sites of every outcome and owner, chained breaks, errors, and several processes."""
    item = Reason("Data-dependent branching", "GB0170", "It branches.", ("Use where.",), "x")
    chained = Break(
        "0/0", FORWARD, (item, Reason("Chained"), Reason("Chained", context="2")),
        Stack((frame(11, column=9),), 1, (SourceLine(11, "    if x.sum() > 0:"),)),
        error="Unsupported", logged_by="jump_graph_break",
    )  # fmt: skip
    asked = Reason("Call to `torch._dynamo.graph_break()`", "GB0025", "Asked for.")
    skipped = Reason("Attempted to call function marked as skipped", "GB0007")
    clock = Break(
        "1/0", STEP, (skipped,),
        Stack((Frame(MODEL, 42, "step", 9, 42, 20),), 1, (SourceLine(42, "    y = time.time()"),)),
        "skipped", error="Unsupported", logged_by="run",
    )  # fmt: skip
    hub = Frame(LIBRARY, 8, "block", code="return json.dumps(self.k)")
    inside = Frame(f"{STDLIB}/json/encoder.py", 200, "encode")
    wrapped = Frame(f"{TORCH}/nn/modules/module.py", 1775, "_call_impl")
    ended_in_error = Compile(
        "6/0", LAYER, outcome="failed", seconds=0.5, error="no kernel\nfor this",
        error_type="BackendCompilerFailed", error_reason=Reason("Backend", "GB0219", "It failed."),
        error_stack=Stack((frame(3), Frame(LAYERS, 6, "layer", 5, 6, 9)), 1),
    )  # fmt: skip
    events: tuple[Event, ...] = (
        Settings({"limit": 8}), chained,
        # One attempt after the other is one occurrence; it ended as the last one did.
        broken("0/0", FORWARD, "Tried again", frame(12, column=3)),
        broken("0/0", FORWARD, "Tried again", frame(12, column=5), outcome="cut", attempt=1),
        Graph("0/0", FORWARD, 3, "inductor"), Graph("0/0", FORWARD, 0, "inductor"),
        Compile("0/0", FORWARD, seconds=1.2503, counted_breaks=1, counted_graphs=2, counted_ops=3),
        broken("2/0", REST, "", frame(20), frame(13), reason=asked),
        Compile("2/0", REST, seconds=0.25, nested=True, counted_breaks=1),
        clock, Compile("1/0", STEP, outcome="skipped", error="skipped"),
        broken("3/0", BLOCK, "Library", frame(21), hub, inside, traced=2, outcome="raised"),
        broken("3/1", BLOCK, "Library", frame(22), wrapped, hub, inside, traced=2),
        broken("3/2", BLOCK, "Library", Frame(LAYERS, 9, "layer"), hub, inside, outcome="skipped"),
        # torch's code that two lines of the user lead to.
        broken("9/0", STEP, "Inside torch", frame(23), wrapped, traced=2),
        broken("9/1", STEP, "Inside torch", frame(24), wrapped, traced=2),
        broken("9/2", STEP, "Inside torch", frame(24), wrapped, traced=2),
        Compile("3/0", BLOCK, error="raised"), Compile("3/1", BLOCK),
        broken("4/0", STEP, "Generated", Frame("<string>", 2, "one")),
        broken("4/0", STEP, "Generated", Frame("<string>", 2, "two")),
        broken("", STEP, "Before tracing", traced=0, outcome="skipped"),
        # The column is known in one process, and at two places of another line.
        broken("5/0", LAYER, "Column", Frame(LAYERS, 7, "layer", 4)),
        broken("5/1", LAYER, "Column", Frame(LAYERS, 7, "layer")),
        broken("5/2", LAYER, "Columns", Frame(LAYERS, 8, "layer", 4)),
        broken("5/2", LAYER, "Columns", Frame(LAYERS, 8, "layer", 8)),
        broken("5/3", LAYER, "Columns", Frame(LAYERS, 8, "layer")),
        ended_in_error,
        Compile("7/0", TORCHS, outcome="failed", error="plain", error_type="ValueError"),
        Compile("8/0", TORCHS, outcome="skipped", error="why"),
        Compile("8/1", TORCHS, outcome="skipped", error="another"),
        Skip(LAYER, "no tensor"), Skip(TORCHS, "torch's own"), Skip(FORWARD, module="Model"),
        Skip(Code(f"{TORCH}/nn/modules/module.py", 1, "Linear.forward"), module="Linear",
             caller=frame(33)),
        Backward("0/0", 0.5), Problem("something odd"), End(9.0),
    )  # fmt: skip
    child: tuple[Event, ...] = (
        Settings({"limit": 9}), chained, Compile("0/0", FORWARD, seconds=2.0),
        Problem("", command=("/usr/bin/python3", "-c", "import x\nprint('a b')")),
        Problem("", command=("C:\\python.exe", "work.py")),
        Problem("", command=("C:\\python.exe", "work.py")),
        # With and without room for the whole command.
        *(Problem("", command=("python", "x" * length)) for length in (93, 94)),
        Graph("0/0", FORWARD, 7, changed_ops=1),
    )  # fmt: skip
    runner = header(0, role="runner", command=("train.py", "--lr", "1"), torch="")
    return [
        Session(header(1, directory="/home/me", rank=0), events, ("line 7 is damaged",)),
        Session(header(2, torch="2.12.0"), child),
        Session(runner, (End(10.0),)),
    ]


def cascades() -> list[Session]:
    """Return a break for each rule about breaks that another one causes, and near misses."""
    inner = Code(MODEL, 50, "helper")
    comprehension = Code(MODEL, 12, "<listcomp>")
    context = Code(MODEL, 10, "forward", resumed_at=30)
    functorch = Frame(f"{TORCH}/_functorch/apis.py", 5, "wrapped")
    transform = Code(LAYERS, 60, "per_sample")
    module = Code(LAYERS, 70, "__init__")
    iterated = Reason("Unsupported method call", context="call __iter__")
    hint = ("Maybe caused by an earlier graph break.",)
    hinted = Reason("Later attempt", hints=hint)
    zipped = Reason("Cannot trace", explanation="It is a zip object.")
    events: tuple[Event, ...] = (
        broken("0/0", FORWARD, "Loop", frame(11), frame(12), traced=2, outcome="skipped"),
        broken("1/0", comprehension, "", frame(12), Frame(MODEL, 12, "<listcomp>"),
               reason=iterated),
        broken("1/1", comprehension, "", Frame(LAYERS, 3, "other"),
               Frame(MODEL, 99, "<listcomp>"), reason=iterated),
        broken("2/0", FORWARD, "Opens", frame(30)),
        broken("3/0", context, "Unsupported context manager", frame(30)),
        broken("3/1", context, "Unsupported context manager", frame(31)),
        broken("4/0", STEP, "First attempt", Frame(MODEL, 44, "step")),
        broken("4/0", STEP, "Second attempt", Frame(MODEL, 45, "step"), attempt=1),
        broken("4/0", STEP, "", Frame(MODEL, 46, "step"), reason=hinted),
        broken("5/0", STEP, "", Frame(MODEL, 46, "step"), reason=hinted),
        # The first attempt of Dynamo can have an earlier break as well, as a hint says.
        broken("14/0", STEP, "First of two", Frame(MODEL, 56, "step")),
        broken("14/0", STEP, "", Frame(MODEL, 57, "step"), reason=Reason("Late", hints=hint)),
        broken("14/0", STEP, "", Frame(MODEL, 58, "step"), reason=Reason("No", hints=("Look.",))),
        broken("6/0", STEP, "Transformed", Frame(MODEL, 47, "step"), functorch, traced=2),
        broken("7/0", transform, "Unsupported functorch tracing attempt", functorch,
               Frame(LAYERS, 61, "per_sample")),
        broken("8/0", STEP, "Builds", Frame(MODEL, 48, "step")),
        broken("9/0", module, "Uninitialized nn.Module", Frame(MODEL, 48, "step"),
               Frame(LAYERS, 71, "__init__")),
        broken("9/1", inner, "Uninitialized nn.Module", Frame(MODEL, 51, "helper")),
        broken("10/0", inner, "Before", Frame(MODEL, 52, "helper")),
        broken("11/0", Code(MODEL, 50, "helper", resumed_at=53), "", Frame(MODEL, 54, "helper"),
               reason=zipped, carried=("zip", "map")),
        broken("11/1", Code(MODEL, 50, "helper", resumed_at=53), "", Frame(MODEL, 55, "helper"),
               reason=zipped, carried=("zipper",)),
        broken("12/0", STEP, "Deep", Frame(MODEL, 41, "step"), Frame(LAYERS, 9, "layer"),
               Frame(LAYERS, 90, "deep"), traced=3),
        broken("13/0", LAYER, "Past the line", Frame(MODEL, 41, "step"), Frame(LAYERS, 7, "layer")),
        broken("13/1", LAYER, "Not past the line", Frame(MODEL, 41, "step"),
               Frame(LAYERS, 9, "layer")),
        broken("13/2", LAYER, "Another caller", Frame(MODEL, 43, "step"),
               Frame(LAYERS, 7, "layer", 2)),
    )  # fmt: skip
    caller, line = Frame(MODEL, 41, "step"), Frame(LAYERS, 8, "layer")
    other = (broken("13/0", LAYER, "Past the line", caller, line),)
    return [Session(header(1), events), Session(header(2), other)]


# Recompiles


def change(
    kind: ChangeKind, place: ChangePlace, source: str, name: str, before: str, now: str,
    **facts: object,
) -> GuardChange:  # fmt: skip
    return GuardChange(kind, place, source, name, before, now, **facts)  # type: ignore[arg-type]


def failed(compiled: str, *changes: GuardChange, guards: int = 1) -> GuardFailure:
    return GuardFailure(compiled, ("guard",) * guards, changes)


def recompiled(compile_id: str, code: Code, *failures: GuardFailure, **facts: object) -> Recompile:
    caller = facts.pop("caller", frame(60, "main"))
    stack = Stack((caller, Frame(code.file, code.line, code.function)))  # type: ignore[arg-type]
    return Recompile(compile_id, code, failures, stack=stack, **facts)  # type: ignore[arg-type]


def recompiles() -> list[Session]:
    """Return groups of every kind of value, with limits, ties, notes and counted calls."""
    size = ("size", "argument", "L['x']", "x")
    x = [change(*size, before, now, dim=0) for before, now in (("8", "9"), ("not 8", "10"))]
    y = change("size", "argument", "L['y']", "y", "8", "9", dim=0)
    one = change("size", "argument", "L['z']", "z", "at least 2", "1", dim=1)
    k = [change("int", "attribute", "L['self'].k", "self.k", str(n), str(n + 1), holder="m.Model")
         for n in range(4)]  # fmt: skip
    mode = change("grad_mode", "torch", "", "grad mode", "on", "off")
    odd = Code(MODEL, 70, "odd")
    single: list[tuple[str, GuardChange]] = [
        ("bool", change("bool", "argument", "L['flag']", "flag", "True", "False")),
        ("type", change("type", "argument", "L['a']", "a", "A", "B")),
        ("type", change("type", "argument", "L['b']", "b", "", "B")),
        ("type", change("type", "argument", "L['c']", "c", "A", "A", note="made again")),
        ("str", change("str", "global", "G['NAME']", "NAME", "'a'", "'b'")),
        ("enum", change("identity", "argument", "L['e']", "e", "E.A", "E.B", note=ENUMERATION)),
        ("int", change("int", "argument", "L['n']", "n", "3", "4")),
        ("ratio", change("size", "argument", "L['x']", "x", "x.size(0) % 4 == 0", "6", dim=0)),
        ("none", change("none", "closure", "L['scale']", "scale", "None", "not None")),
        ("length", change("length", "default", "L['p']", "p", "1", "2")),
    ]  # fmt: skip
    events: list[Event] = [
        Compile("0/0", FORWARD), Compile("1/0", STEP, seconds=1.0),
        Sizes("0/1", FORWARD, (DynamicSize("L['x']", "x", 0, "automatic", 9, 8),)),
        # What changed together: the change that explains other recompiles is the reason.
        recompiled("0/1", FORWARD, failed("0/0", x[0], y, guards=3), dynamic=True),
        recompiled("0/2", FORWARD, failed("0/1", x[1]), failed("0/0", x[0], mode)),
        recompiled("0/3", FORWARD, failed("0/2", one), caller=frame(61, "main"), instances=1,
                   wrappers=1),
        Compile("0/1", FORWARD, seconds=0.5), Compile("0/2", FORWARD, seconds=0.25),
        *(recompiled(f"1/{n + 1}", STEP, failed(f"1/{n}", each), instances=3, wrappers=2)
          for n, each in enumerate(k[:2])),
        Compile("1/1", STEP, seconds=0.125), Compile("1/2", STEP, seconds=0.125),
        recompiled("1/3", STEP, failed("1/2", k[2]), limit="recompile_limit", limit_value=3,
                   instances=3, wrappers=2),
        Compile("1/3", STEP, outcome="limit", error="limit reached"),
        *(Call(7, n, STEP, 0.1, compiles, ran, frame(60, "main"), error, count)
          for n, (compiles, ran, error, count) in enumerate((
              (("1/0",), (), "", 1), (("1/1",), (), "", 1), ((), ("1/1",), "", 4),
              (("1/2",), ("1/0",), "", 1), ((), (), "", 2), (("1/3",), (), "raised", 1),
              ((), (), "", 5), ((), ("1/2",), "", 3)))),
        Call(8, 0, STEP, 0.1, ("1/3",), (), frame(60, "main"), "raised", 2),
        Call(9, 0, LAYER, 0.1, (), (), None, "", 50),
    ]  # fmt: skip
    for number, (kind, each) in enumerate(single):
        code = Code(LAYERS, 100 + number, f"on_{kind}")
        events += [
            Compile(f"{20 + number}/0", code),
            recompiled(f"{20 + number}/1", code, failed(f"{20 + number}/0", each),
                       caller=frame(80 + number, "main")),
        ]  # fmt: skip
    # Only the texts of guards, and nothing at all.
    events += [
        recompiled("40/1", odd, GuardFailure("40/0", ("L['q'] == 3", "other"))),
        recompiled("41/1", Code(MODEL, 71, "odder")),
        Recompile("42/1", TORCHS, (failed("42/0", mode),), wrapped=LAYER),
    ]
    return session(*events)


def callers() -> list[Session]:
    """Return recompiles of functions that the user, a library and torch call."""
    main, other = frame(60, "main"), frame(62, "main")
    hub, torchs = Frame(LIBRARY, 20, "call"), Frame(f"{TORCH}/nn/modules/module.py", 9, "_call")
    stacks = [
        (main, hub, torchs), (hub, torchs), (torchs,), (), (main, other),
        (main, torchs, other, hub),
    ]  # fmt: skip
    events: list[Event] = []
    for number, frames in enumerate(stacks):
        code = Code(LAYERS, 200 + number, f"called_{number}")
        value = change("int", "argument", "L['n']", "n", "3", "4")
        for ends_at_start in (True, False):
            own = (Frame(code.file, code.line, code.function),) if ends_at_start else ()
            events.append(
                Recompile(f"{number}/1", code, (failed(f"{number}/0", value),),
                          stack=Stack((*frames, *own)))
            )  # fmt: skip
    # Two lines call this one, the second more often.
    for number, each in enumerate((main, other, other, hub)):
        stack = Stack((each, Frame(LAYER.file, LAYER.line, LAYER.function)))
        value = change("int", "argument", "L['n']", "n", str(number), "9")
        events.append(
            Recompile(f"9/{number + 1}", LAYER, (failed(f"9/{number}", value),), stack=stack)
        )
    return session(*events)


def results_at_breaks() -> list[Session]:
    """Return recompiles of resumed functions that depend on the result of a call at a break."""
    lines = (
        ("    n = x.sum().item()", "x.sum().item()"),
        ("    n: int = x.item()", "x.item()"),
        ("    y = z * x.item() + 1", "x.item()"),
        ("    y = 'é', x.item( ), 2", "x.item( )"),
        ("    n = (x.item())", "x.item()"),
        ("    a, b = x.item()", "x.item()"),
        ("    if x.item() > 2:", "x.item() > 2"),
        (f"    y = {'x' * 34}.item()", f"{'x' * 34}.item()"),
        (f"    y = 1 + {'x' * 33}.item()", f"{'x' * 33}.item()"),
        (f"    y = 1 + {'x' * 34}.item()", f"{'x' * 34}.item()"),
        ("    n = x.item(", "x.item("),
    )
    events: list[Event] = []
    for number, (text, call) in enumerate(lines, start=300):
        start = text.index(call) + 1
        events += _result(
            number, text, Frame(MODEL, number, "step", start, None, start + len(call))
        )
    row = "    y = f(x) + g(x)"
    place = Frame(MODEL, 350, "step", 9, None, 13)
    events += _result(350, row, place, msgspec.structs.replace(place, column=16, end_column=20))
    events += _result(351, row, Frame(MODEL, 351, "step"))
    events += _result(352, row, Frame(MODEL, 352, "step", 9, 353, 2))
    events += _result(354, row, Frame(MODEL, 353, "step", 9, None, 13))
    return session(*events)


def _result(line: int, text: str, *frames: Frame) -> list[Event]:
    """Return breaks at a line, and a recompile of the function that resumes there."""
    rest = Code(MODEL, 40, "step", resumed_at=line)
    value = change("int", "break", "L['___stack0']", f"the result of line {line}", "3", "4")
    found = [
        Break(f"{line}/0", STEP, (Reason("Call"),), Stack((each,), 1, (SourceLine(line, text),)))
        for each in frames
    ]
    return [*found, recompiled(f"{line}/2", rest, failed(f"{line}/1", value))]


def dynamic_sizes() -> list[Session]:
    """Return sizes that became dynamic or constant for every reason."""

    def at(code: str, file: str = MODEL) -> tuple[Frame, ...]:
        return (Frame(file, 12, "forward", code=code),)

    static = StaticSize("y", 1, False)
    weight = StaticSize("self.weight", 0, True)
    number = StaticSize("n", None, False)
    facts: list[dict[str, object]] = [
        {}, {"why": "dynamic", "specialized_to": 1}, {"specialized_to": 0},
        {"specialized_to": 8, "in_backend": True, "stack": at("x + 1")},
        {"specialized_to": 8}, {"specialized_to": 8, "stack": at("if x.size(0) == 8:")},
        {"specialized_to": 8, "stack": at("elif 8 != n:")},
        {"specialized_to": 8, "stack": at("if n > 8:")},
        {"specialized_to": 8, "stack": at("x.view(n, (2, 8))")},
        {"specialized_to": 8, "stack": at("f(n, size=8)"), "dim": None},
        {"specialized_to": 8, "stack": at("for i in range(n):")},
        {"specialized_to": 8, "stack": at("x + y"), "equal_to": (number, static)},
        {"specialized_to": 8, "stack": at("x @ w"), "equal_to": (weight,)},
        {"specialized_to": 8, "stack": at("x + y"), "equal_to": (static,), "dim": None},
        {"specialized_to": 8, "stack": at("names[n]"), "dim": None},
        {"specialized_to": 8, "stack": at("odd line ("), "equal_to": (number,)},
        {"specialized_to": 1, "stack": (*at("x + 1"), *at("return y", f"{TORCH}/x.py"))},
    ]  # fmt: skip
    events: list[Event] = []
    for index, each in enumerate(facts):
        known = {"source": f"L['x{index}']", "name": f"x{index}", "dim": 0, "why": "automatic",
                 "value": 8, **each}  # fmt: skip
        events.append(Sizes(f"{index}/1", FORWARD, (DynamicSize(**known),)))  # type: ignore[arg-type]
    before = change("size", "argument", "L['x0']", "x0", "8", "9", dim=0)
    unknown = change("size", "argument", "L['x1']", "x1", "not 8", "9", dim=0)
    again = DynamicSize("L['x2']", "x2", 0, "automatic", 9, specialized_to=9)
    events += [
        Sizes("9/9", FORWARD, (again, again)),
        Recompile("0/1", FORWARD, (failed("0/0", before),)),
        Recompile("1/1", FORWARD, (failed("1/0", unknown),)),
    ]
    return session(*events)


# Costs and stances


def cost() -> list[Session]:
    """Return forward and backward routes, on a device, with and without a profile or a price."""

    def ms(*numbers: int) -> tuple[int, ...]:
        return tuple(1_000_000 * number for number in numbers)

    pieces = (Piece("0/0", 0.004, 3, 0.001, 1, 2), Piece("1/0", 0.002, 1, 0.0005), Piece("", 0.002))
    entry = Gap(profile=Profile(0.002, (Piece("", 0.001),), 0.0005))
    middle = Gap((CodeLine(FORWARD, 11, "0/0"),), (), Profile(0.001, pieces, 0.003))
    last = Gap((CodeLine(REST, 13, "2/0"),), (), Profile(0.0, (Piece("2/0", 0.001),)))
    rows = tuple(ms(1, 4, 6 + extra, 4, 2) for extra in (0, 1, 2, 3, 90))
    unlabelled = Gap((CodeLine(STEP, 42),), (CodeLine(LAYER, 6),), Profile(0.0, (Piece("", 0.01),)))
    return session(
        broken("0/0", FORWARD, "First", frame(11)),
        broken("1/0", REST, "Second", frame(13)),
        broken("3/0", STEP, "Skips", Frame(MODEL, 42, "step"), outcome="skipped"),
        broken("4/0", LAYER, "Never reached", Frame(LAYERS, 6, "layer")),
        Compile("0/0", FORWARD, seconds=1.0), Compile("1/0", REST, seconds=0.5),
        Compile("2/0", Code(MODEL, 10, "forward", resumed_at=11), seconds=0.25),
        Compile("3/0", STEP, outcome="skipped", seconds=0.125),
        Cost(1, FORWARD, calls=20, compiling=2, graphs=("0/0", "2/0"), gaps=(entry, middle, last),
             samples=rows, device_seconds=0.007),
        Cost(1, FORWARD, backward=True, calls=18, graphs=("", ""),
             gaps=(Gap(), Gap(profile=Profile(0.0, (Piece("0/0", 0.002, 2, 0.001),))), Gap()),
             samples=rows[:4]),
        Cost(2, FORWARD, calls=4, graphs=("5/0",), gaps=(Gap(), Gap()), samples=(ms(1, 2, 3),) * 3),
        Cost(3, STEP, calls=9, graphs=("6/0",), gaps=(unlabelled, unlabelled),
             samples=(ms(2, 3, 4),) * 4),
        Cost(4, LAYER, calls=2, compiling=1, graphs=("4/0",), gaps=(Gap(), Gap()),
             samples=(ms(1, 1, 1),)),
        Cost(5, BLOCK, calls=3, errors=3),
    )  # fmt: skip


def stances() -> list[Session]:
    """Return every stance, alone and with a backend."""
    names = ("default", "force_eager", "eager_on_recompile", "fail_on_recompile",
             "eager_then_compile", "aot_eager_then_compile", "of_the_future")  # fmt: skip
    events = [Stance(name) for name in names]
    events += [
        Stance("default", "eager", caller=frame(5)),
        Stance("force_eager", "", True),
        Stance("default", "eager", True),
        Stance("force_eager"),
    ]
    return session(*events)


def guards() -> list[Session]:
    """Return the guards of several functions, timed and not timed."""
    timed = (
        Guard("TENSOR_MATCH", "argument", "L['x']", "x", 5e-9, "check"),
        Guard("EQUALS_MATCH", "attribute", "L['self'].k", "self.k", 2e-9),
        Guard("TENSOR_MATCH", "parameter", "L['self'].w", "self.w", 3e-9),
        Guard("TENSOR_MATCH", "argument", "L['y']", "y", 1e-9),
    )
    inner = Code(MODEL, 90, "inner", "make.<locals>.inner")
    return session(
        Guards("0/0", FORWARD, 1.1e-8, 9e-8, timed),
        Guards("0/1", FORWARD, 2.5e-8, None, timed[:2]),
        Guards("1/0", STEP, 2e-8, None, timed[1:]),
        Guards("2/0", inner, None, None, timed),
        Guards("3/0", REST),
        Guards("4/0", BLOCK, None, None, timed[:1]),
        Guards("5/0", LAYER, 2.2e-8, None, timed[:1]),
        Sizes("2/0", inner, (DynamicSize("L['x']", "x", 0, "automatic", 9, 8),)),
    )


SESSIONS: tuple[Callable[[], list[Session]], ...] = (
    breaks, cascades, recompiles, callers, results_at_breaks, dynamic_sizes, cost, stances,
)  # fmt: skip


def reports() -> dict[str, str]:
    """Return the reports as JSON, by the names of their files."""
    found = {f"{make.__name__}.json": _json(analyze(make())) for make in SESSIONS}
    all_guards = analyze_guards(guards())
    found["guards.json"] = _json(all_guards)
    found["guards_of_inner.json"] = _json(only_function(all_guards, "inner"))
    return found


def _json(report: Struct) -> str:
    return msgspec.json.format(msgspec.json.encode(report), indent=1).decode() + "\n"


def main() -> None:
    """Write the expected reports again."""
    EXPECTED.mkdir(exist_ok=True)
    for name, text in reports().items():
        (EXPECTED / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
