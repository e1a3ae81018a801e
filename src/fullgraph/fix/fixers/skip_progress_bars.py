"""A loop with a progress bar goes over the same things without the bar while compiled.

`for step in tqdm(steps):` draws on the terminal as the loop goes on. Dynamo does not enter such an
iterator, and a loop over something unknown leaves the whole function to eager.
`torch.compiler.is_compiling()` is a constant while tracing, so the loop can go over the steps
themselves there.

Dropped: eager shows the bar as before, compiled code shows none. Only for a bar that is made in the
`for` itself: one that has a name is asked or told something. Its options must be without effect.
"""

import ast
from collections.abc import Iterator, Mapping

from fullgraph.fix.fixers import Spot
from fullgraph.fix.fixers._output_calls import is_dispensable
from fullgraph.fix.model import Candidate
from fullgraph.fix.source.context import caller_of
from fullgraph.fix.source.edits import patched, source_of, statements_at, swapped, tree_of
from fullgraph.fix.source.names import dotted, imports_of

TITLE = "a progress bar → none while compiled"
KIND = "rewrite"
SAFETY = "dropped"

_COMPILING = "torch.compiler.is_compiling()"
# What gives back the very things that it is given is known of these only.
_LIBRARIES = ("tqdm.", "rich.progress.", "fastprogress.")
_BARS = ("tqdm", "track", "progress_bar", "trange")


def candidates(spot: Spot) -> Iterator[Candidate]:
    place = caller_of(spot)
    tree = tree_of(place.text) if place else None
    if place is None or tree is None:
        return
    text = _without_bar(place, tree, imports_of(tree))
    if text is not None:
        patch = patched(place, text, "import torch")
        yield Candidate("skip_progress_bars", TITLE, "rewrite", "dropped", file=patch)


def _without_bar(place: Spot, tree: ast.Module, imports: Mapping[str, str]) -> str | None:
    """A loop over the things themselves."""
    loop = next((s for s in statements_at(tree, place.cause.line) if isinstance(s, ast.For)), None)
    if loop is None or not isinstance(loop.iter, ast.Call) or not loop.iter.args:
        return None
    bar = loop.iter
    full = dotted(bar.func, imports)
    name = full.rpartition(".")[2]
    options = [*(bar.args[1:]), *(keyword.value for keyword in bar.keywords)]
    if not full.startswith(_LIBRARIES) or name not in _BARS:
        return None
    if not all(is_dispensable(option, tree) for option in options):
        return None
    if any(isinstance(argument, ast.Starred) for argument in bar.args):
        return None
    shown = [source_of(place.text, argument) for argument in bar.args]
    things = f"range({', '.join(shown)})" if name == "trange" else shown[0]
    whole = source_of(place.text, bar)
    if "\n" in whole:
        return None
    return swapped(place.text, [(bar, f"{things} if {_COMPILING} else {whole}")])


CHANGES = {
    "a progress bar": """
import torch
from tqdm import tqdm

def f(x):
    for step in tqdm(range(3), desc="steps", disable=True):
        x = x * 0.5 + step
    return x

def inputs():
    return (torch.randn(4),)
""",
    "a range with a bar": """
import torch
from tqdm.auto import trange

class Sampler(torch.nn.Module):
    def forward(self, x):
        for step in trange(1, 4, disable=True):
            x = x * 0.5 + step
        return x

f = Sampler()

def inputs():
    return (torch.randn(4),)
""",
    "layers with their numbers": """
import torch
import tqdm

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(2))

    def forward(self, x):
        for number, layer in tqdm.tqdm(enumerate(self.layers), total=2, disable=True):
            x = layer(x) + number
        return x

f = Model()

def inputs():
    return (torch.randn(2, 4),)
""",
}
REFUSES = {
    "a bar that is used": """
import torch
from tqdm import tqdm

def f(x):
    bar = tqdm(range(3), disable=True)
    for step in bar:
        x = x * 0.5 + step
        bar.set_postfix(step=step)
    return x * bar.n

def inputs():
    return (torch.randn(4),)
""",
    "an option that has an effect": """
import torch
from tqdm import tqdm

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls = 0

    def name(self):
        self.calls += 1
        return "steps"

    def forward(self, x):
        for step in tqdm(range(2), desc=self.name(), disable=True):
            x = x + step
        return x * self.calls

f = Model()

def inputs():
    return (torch.randn(4),)
""",
    "something else of that name": """
import torch

class Frames:
    def __init__(self):
        self.data = array = __import__("array").array("l", [1, 2, 3])

    def track(self, values):
        return iter(self.data)

frames = Frames()

def f(x):
    for step in frames.track(range(2)):
        x = x + step
    return x

def inputs():
    return (torch.randn(4),)
""",
    "arguments that are spread": """
import torch
from tqdm import tqdm

OPTIONS = (range(3), "steps", None, False)

def f(x):
    for step in tqdm(*OPTIONS, disable=True):
        x = x + step
    return x

def inputs():
    return (torch.randn(4),)
""",
}
