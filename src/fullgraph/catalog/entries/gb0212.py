"""The compiled function starts the profiler. The profiler object is still needed when something
breaks the graph, or the function returns it.
"""

import torch
from torch.profiler import ProfilerActivity, profile

from fullgraph.catalog.fix_decorator import fix

# With fullgraph=True torch reports key_averages() first.
BY_DEFAULT = True

running = []


def inputs():
    return torch.randn(4, 8)


def breaks(x):
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        y = x.softmax(dim=-1)
    y = y / y.max().item()
    return y, len(profiler.key_averages()) > 0


def start(x):
    running.append(profile(activities=[ProfilerActivity.CPU]))
    running[-1].start()
    return x


def stop(y):
    profiler = running.pop()
    profiler.stop()
    return y, len(profiler.key_averages()) > 0


@fix("move", "equal", before=start, after=stop)
def fixed(x):
    """The caller starts the profiler before the call and stops it after, so it profiles the
    compiled code.
    """
    y = x.softmax(dim=-1)
    return y / y.max()
