"""Python that Dynamo cannot trace: hashes, imports, managers, helpers, output, user breaks."""

from __future__ import annotations

import random

from bench._soundness.program import Argument, Shape
from bench._soundness.shapes._pieces import finish, floats, number, prefix, sizes


def _constant_hashes(rng: random.Random) -> Shape:
    shape = sizes(rng)
    hashed = rng.choice(
        ["zlib.crc32({0}.encode()) % 7", "zlib.adler32({0}.encode()) % 5 + 1",
         "int(hashlib.md5({0}.encode()).hexdigest(), 16) % 9",
         "int(hashlib.sha256({0}.encode()).hexdigest(), 16) % 5", "zlib.crc32({0}.encode())"]
    )  # fmt: skip
    arguments = [floats("x", shape, rng)]
    init: list[str] = []
    if rng.random() < 0.5:
        init, source = ["self.name = 'encoder.0'"], "self.name"
    else:
        arguments.append(Argument("name", "text", "'encoder'", has_default=rng.random() < 0.5))
        source = "name"
    use = rng.choice(["y = h * (k % 10)", "y = h + k % 3", "y = h * 2 if k % 2 else h - 1"])
    tail, is_tensor = finish(rng)
    return Shape(
        arguments, [*prefix(rng), f"k = {hashed.format(source)}", use, *tail], init=init,
        imports=["import hashlib", "import zlib"], returns_tensor=is_tensor,
    )  # fmt: skip


def _hoist_calls(rng: random.Random) -> Shape:
    shape = sizes(rng)
    value, above = rng.choice(
        [("int(hashlib.md5(b'layer').hexdigest(), 16) % 9", []),
         ("zlib.crc32(NAME) % 5", ["NAME = b'layer'"]),
         ("float(RATE * 3)", ["RATE = Decimal('0.1')"]),
         ("int(Decimal('2.5') + 1)", []), ("float(Fraction(1, 3))", []),
         ("timedelta(minutes=2).total_seconds()", []),
         ("zlib.crc32(b'x' * WIDTH) % 3", ["WIDTH = 4"]),
         ("max(os.cpu_count(), 1) * 0 + 2", []),
         ("zlib.adler32(NAME.encode()) % 11", ["NAME = 'layer'"])]
    )  # fmt: skip
    use = rng.choice(["y = h * k", "y = h + k", "y = h * 2 if k > 2 else h - 1"])
    tail, is_tensor = finish(rng)
    imports = ["import hashlib", "import os", "import zlib", "from decimal import Decimal"]
    imports += ["from fractions import Fraction", "from datetime import timedelta"]
    return Shape(
        [floats("x", shape, rng)], [*prefix(rng), f"k = {value}", use, *tail], imports=imports,
        above=above, returns_tensor=is_tensor,
    )  # fmt: skip


def _hoist_imports(rng: random.Random) -> Shape:
    shape = sizes(rng)
    name = rng.choice(["faster_softmax", "missing_kernels", "zlib"])
    imported = rng.choice(
        [f"import {name} as kernel", f"from {name} import kernel", f"import {name} as kernel"]
    )
    error = rng.choice(["ImportError", "ModuleNotFoundError"])
    missing = rng.choice(["None", "False"])
    test = {"None": "kernel is None", "False": "not kernel"}[missing]
    body = [*prefix(rng), "try:", f"    {imported}", f"except {error}:", f"    kernel = {missing}"]
    body += [
        rng.choice([f"y = h.softmax(-1) if {test} else h * 3", f"y = h + 1 if {test} else h - 1"])
    ]
    tail, is_tensor = finish(rng)
    return Shape([floats("x", shape, rng)], [*body, *tail], returns_tensor=is_tensor)


def _managers(rng: random.Random) -> Shape:
    shape = sizes(rng)
    manager = rng.choice(
        ["torch.backends.cudnn.flags(enabled=False)", "torch.cuda.device_of(x)",
         "torch.backends.cudnn.flags(deterministic=True)", "warnings.catch_warnings()",
         "np.errstate(divide='ignore', invalid='ignore')",
         "torch.no_grad(), torch.backends.cudnn.flags(enabled=False)"]
    )  # fmt: skip
    inner = [rng.choice(["y = h.softmax(-1)", "y = h * 2", "y = h.mean() - h", "y = h / h.sum()",
                         "y = h.float()", "y = h"])]  # fmt: skip
    if "catch_warnings" in manager:
        inner = ["warnings.simplefilter('ignore')", *inner]
    tail, is_tensor = finish(rng)
    body = [*prefix(rng), f"with {manager}:", *(f"    {line}" for line in inner), *tail]
    return Shape(
        [floats("x", shape, rng)], body, imports=["import warnings", "import numpy as np"],
        returns_tensor=is_tensor,
    )  # fmt: skip


def _nonstrict(rng: random.Random) -> Shape:
    shape = sizes(rng)
    imports, found = rng.choice(
        [("import bisect", "bisect.bisect(EDGES, width)"),
         ("import bisect", "bisect.bisect_left(EDGES, width)"),
         ("import zlib", "zlib.crc32(b'abc') % (width + 1)"),
         ("import bisect", "bisect.bisect([1, 2, 4], width) + 1")]
    )  # fmt: skip
    compute = rng.choice(
        ["x.roll(place, 0) * (place + 1)", "x * place", "x + place", "x[place:]", "x.sin() * place",
         "x.clone().fill_(place)", "x", "x[:]", "x.sum() + place", "x.mT * place"]
    )  # fmt: skip
    helper = ["def part(x, width):", f"    place = {found}", f"    return {compute}", ""]
    above = ["EDGES = (1, 2, 4)", "", *helper]
    width = rng.choice(["2", "3", "width", "x.dim()", "x.shape[0]"])
    arguments = [floats("x", shape, rng)]
    if width == "width":
        arguments.append(number("width", "2"))
    tail, is_tensor = finish(rng)
    body = [*prefix(rng), f"y = part(h, {width})", *tail]
    return Shape(arguments, body, imports=[imports], above=above, returns_tensor=is_tensor)


def _numpy_helper(rng: random.Random) -> Shape:
    shape = sizes(rng)
    values = rng.choice(
        ["signal.detach().numpy()", "signal.detach().cpu().numpy()", "signal.numpy()"]
    )
    compute = rng.choice(
        ["np.maximum.accumulate(values, axis=-1)", "values", "np.sort(values, axis=-1)",
         "np.interp(values, [-1.0, 0.0, 1.0], [0.0, 0.5, 2.0])",
         "np.cumsum(values, axis=-1)", "np.fliplr(values)", "values * 2",
         "np.ascontiguousarray(values)", "np.unwrap(values)"]
    )  # fmt: skip
    cast = rng.choice([".astype('float32')", ".astype(values.dtype)", "", ".copy()"])
    extra = number("decay", "0.5") if rng.random() < 0.4 else None
    parameters = "signal, decay=0.5" if extra else "signal"
    result = f"({compute}){cast}{' * decay' if extra else ''}"
    above = [f"def curve({parameters}):", f"    values = {values}", f"    found = {result}"]
    above += ["    return torch.from_numpy(found)", ""]
    tail, is_tensor = finish(rng)
    taken = rng.choice(["h", "h", "h.tanh()", "h.detach()"])
    body = [*prefix(rng), f"y = curve({taken}{', decay=decay' if extra else ''}) * 2", *tail]
    arguments = [floats("x", shape), *([extra] if extra else [])]
    return Shape(
        arguments, body, imports=["import numpy as np"], above=above, returns_tensor=is_tensor,
        gradients="detach" in values or rng.random() < 0.3,
    )  # fmt: skip


def _user_breaks(rng: random.Random) -> Shape:
    shape = sizes(rng)
    arguments = [floats("x", shape, rng)]
    tail, is_tensor = finish(rng)
    compute = rng.choice(["h * 3", "h.sum() - h", "h", "h[:]", "torch.cat((h, h))", "h.add_(1)",
                          "torch.nn.functional.dropout(h, 0.5)", "h / h.norm()"])  # fmt: skip
    if rng.random() < 0.5:
        above: list[str] = []
        pause = rng.choice(
            ["torch._dynamo.graph_break()", "if True:\n        torch._dynamo.graph_break()"]
        )
        body = [*prefix(rng), f"y = {compute}", *pause.replace("    ", "", 1).split("\n"), *tail]
        if "if True" in pause:
            body = [
                *prefix(rng),
                f"y = {compute}",
                "if h.dim():",
                "    torch._dynamo.graph_break()",
                *tail,
            ]
    else:
        decorator = rng.choice(
            ["@torch.compiler.disable", "@torch._dynamo.disable", "@torch.compiler.disable()"]
        )
        above = [decorator, "def part(h):", f"    return {compute}", ""]
        body = [*prefix(rng), "y = part(h)", *tail]
    return Shape(arguments, body, above=above, returns_tensor=is_tensor)


_LINES = (
    "print('sum', h.sum())", "print(f'largest: {h.max().item():.3f}')", "print('plain')",
    "LOG.info('mean %s', h.mean())", "LOG.warning('shape %s', h.shape)", "warnings.warn('careful')",
    "print(h.shape, h.dtype)", "LOG.debug('h %s', h)", "print('first', float(h.reshape(-1)[0]))",
)  # fmt: skip


def _skip_logging(rng: random.Random) -> Shape:
    shape = sizes(rng)
    line = rng.choice(_LINES)
    kind = rng.choice(["alone", "alone", "if", "computed", "two"])
    match kind:
        case "if":
            said = ["if h.max() > 1:", f"    {line}"]
        case "computed":
            said = ["level = h.abs().mean().item()", "print(f'level {level:.2f}')"]
        case "two":
            said = [line, rng.choice(_LINES)]
        case _:
            said = [line]
    tail, is_tensor = finish(rng)
    compute = rng.choice(["y = h * 2", "y = h + 1", "y = h"])
    return Shape(
        [floats("x", shape, rng)], [*prefix(rng), *said, compute, *tail],
        imports=["import logging", "import warnings"],
        above=["LOG = logging.getLogger(__name__)"], returns_tensor=is_tensor,
    )  # fmt: skip


def _progress(rng: random.Random) -> Shape:
    shape = sizes(rng)
    steps = rng.choice(["range(3)", "range(1, 4)", "[1, 2]", "enumerate((2, 3))"])
    bar = rng.choice([f"tqdm({steps}, disable=True)", f"tqdm({steps}, desc='steps', disable=True)"])
    if steps == "range(3)" and rng.random() < 0.4:
        bar = "trange(3, disable=True)"
    target = "step, more" if "enumerate" in steps else "step"
    change = rng.choice(["h = h * 0.5 + step", "h = h + step", "h += step"])
    body = [*prefix(rng), f"for {target} in {bar}:", f"    {change}", "y = h"]
    tail, is_tensor = finish(rng)
    return Shape(
        [floats("x", shape, rng)], [*body, *tail], imports=["from tqdm import tqdm, trange"],
        returns_tensor=is_tensor,
    )  # fmt: skip


def _equivalents(rng: random.Random) -> Shape:
    shape = sizes(rng)
    arguments = [floats("x", shape, rng)]
    above: list[str] = []
    imports: list[str] = []
    kind = rng.choice(["groupby", "container", "grad", "deepcopy", "deepcopy"])
    match kind:
        case "groupby":
            imports = ["import itertools"]
            above = ["LAYERS = (1, 3, 2, 4, 4)"]
            key = rng.choice(["lambda n: n % 2", "lambda n: n > 2", "bool"])
            body = [*prefix(rng), f"for odd, group in itertools.groupby(LAYERS, {key}):"]
            body += ["    for n in group:", "        h = h * n if odd else h + n", "y = h"]
        case "container":
            body = [*prefix(rng), "parts = dict[str, torch.Tensor]()", "parts['a'] = h * 2"]
            body += ["many = list[torch.Tensor](h.reshape(-1).unbind(0))"]
            body += ["y = parts['a'] + len(many)"]
        case "grad":
            above = ["frozen = torch.no_grad()"]
            body = [
                *prefix(rng),
                "with frozen:",
                f"    y = {rng.choice(['h * 2', 'h', 'h.sin()'])}",
            ]
        case _:
            imports = ["import copy"]
            source = rng.choice(["x", "h", "x", "x.detach()"])
            body = [*prefix(rng), f"kept = copy.deepcopy({source})"]
            body += rng.choice([[], ["h.mul_(2)"], ["x.mul_(2)"]])
            body += [rng.choice(["y = h - kept", "y = kept", "y = kept * 2", "y = kept.add_(1)"])]
    tail, is_tensor = finish(rng)
    return Shape(arguments, [*body, *tail], imports=imports, above=above, returns_tensor=is_tensor)


def _extract(rng: random.Random) -> Shape:
    shape = sizes(rng)
    arguments = [floats("x", shape, rng), number("times", "2")]
    kind = rng.choice(["try", "try", "loop", "with"])
    change = rng.choice(["h = h + times", "h = h * 2", "h += times", "h = h / times", "h = h[:2]"])
    match kind:
        case "try":
            error = rng.choice(["ArithmeticError", "ZeroDivisionError", "Exception"])
            change = rng.choice(["h = h * (4 // times)", "h += 3 % times"])
            block = ["try:", "    time.sleep(0)", f"    {change}", f"except {error}:"]
            block += [rng.choice(["    h = x", "    h = h * 0"])]
        case "loop":
            block = ["for _ in range(times):", "    time.sleep(0)", f"    {change}"]
        case _:
            block = ["with LOCK:", "    time.sleep(0)", f"    {change}"]
    tail = rng.choice([["return h.cos() * 2"], ["return h"], ["return h, x"], ["return h + x"]])
    return Shape(
        arguments, [*prefix(rng), "h = h.sin()", *block, *tail],
        imports=["import time", "import threading"], above=["LOCK = threading.Lock()"],
        more=[f"torch.randn{shape}, 0"],
        returns_tensor=tail != ["return h, x"],
    )  # fmt: skip


SHAPES = {
    "constant_hashes": _constant_hashes,
    "extract_block": _extract,
    "hoist_constant_calls": _hoist_calls,
    "hoist_optional_imports": _hoist_imports,
    "noop_context_managers": _managers,
    "nonstrict_trace_helpers": _nonstrict,
    "numpy_helpers_to_custom_op": _numpy_helper,
    "remove_user_breaks": _user_breaks,
    "skip_logging": _skip_logging,
    "skip_progress_bars": _progress,
    "traceable_equivalents": _equivalents,
}
