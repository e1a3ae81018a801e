"""A program with one of each: breaks, recompiles, limits, errors, stances and skipped code."""

import torch
from torch import Tensor, nn

SCALE = 2
torch._dynamo.config.recompile_limit = 3


@torch.compile(backend="eager")
def asked(x: Tensor) -> Tensor:
    x = x + 1
    torch._dynamo.graph_break()
    return x.cos()


@torch.compile(backend="eager")
def branch(x: Tensor) -> Tensor:
    if x.sum() > 0:
        return helper(x)
    return x - 1


def helper(x: Tensor) -> Tensor:
    y = x.tolist()
    print("heard", end="")
    return x * len(y)


@torch.compile(backend="eager")
def loop(layers, x: Tensor) -> Tensor:
    for layer in zip(layers, layers):
        print("", end="")
        x = layer[0](x)
    return x


@torch.compile(backend="eager")
def manager(x: Tensor) -> Tensor:
    with open("/dev/null") as file:
        x = x + 1
    return x


@torch.compile(backend="eager", fullgraph=True)
def whole(x: Tensor) -> Tensor:
    torch._dynamo.graph_break()
    return x


@torch.compile(backend="eager")
def scaled(x: Tensor, n=1, *, options=None) -> Tensor:
    if options is not None:
        x = x + options["rate"]
    return x * n * SCALE


@torch.compile(backend="eager")
def specialized(x: Tensor) -> Tensor:
    if x.size(0) == 8:
        return x + 1
    return x.view(8, -1)


@torch.compile(backend="eager")
def number(x: Tensor) -> Tensor:
    n = x.sum().item()
    return x * n


class Model(nn.Module):
    def __init__(self, k: int) -> None:
        super().__init__()
        self.k = k
        self.layer = nn.Linear(2, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x) * self.k


def failing_backend(graph, inputs):
    raise RuntimeError("no kernel")


def make(rate):
    def inner(x):
        return x * rate

    return inner


def attempt(function, *args, **options) -> None:
    try:
        function(*args, **options)
    except Exception as error:
        print(type(error).__name__)


def main() -> None:
    global SCALE
    x = torch.ones(2, 2)
    asked(x)
    asked(x)
    branch(x)
    loop(nn.ModuleList([nn.ReLU(), nn.Tanh()]), x)
    manager(x)
    attempt(whole, x)
    # Recompiles: sizes, numbers, globals, modes, types and keys, up to the limit.
    for size in (2, 3, 5):
        scaled(torch.ones(size))
    torch._dynamo.reset()
    scaled(x, 1.5, options={"rate": 1})
    scaled(x, 2.5, options={"rate": 2})
    SCALE = 3
    scaled(x, 2.5, options={"rate": 2})
    scaled(x, None and 1 or 1, options={"other": 2, "rate": 2})
    scaled(x.double(), 1)
    torch._dynamo.reset()
    with torch.no_grad():
        scaled(x)
    scaled(x)
    scaled(x.requires_grad_())
    x = x.detach()
    marked = torch.ones(8, 2)
    torch._dynamo.mark_dynamic(marked, 1)
    specialized(marked)
    specialized(torch.ones(16, 3))
    number(x)
    number(x * 2)
    models = [torch.compile(Model(k), backend="eager") for k in range(2)]
    for model in models:
        model(x)
    models[0].k = 7
    models[0](x)
    for rate in (1, 2):
        torch.compile(make(rate), backend="eager")(x)
    attempt(torch.compile(helper, backend=failing_backend), x)
    nn.Linear(2, 2).compile(backend="eager")
    linear = nn.Linear(2, 2)
    linear.compile(backend="eager")
    linear(x)
    torch.compile(lambda y: y.sum().backward(), backend="eager")(torch.ones(2, requires_grad=True))
    with torch.compiler.set_stance("force_eager"):
        asked(x)
    torch.compiler.set_stance("default", skip_guard_eval_unsafe=False)


main()
