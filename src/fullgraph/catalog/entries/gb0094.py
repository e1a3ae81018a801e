"""A generator delegates with `yield from` to an incomplete iterator: its class has `__next__`, but
no `__iter__`. Python accepts this, Dynamo does not.
"""

import torch

from fullgraph.catalog.fix_decorator import fix


class Cursor:
    def __init__(self, rows):
        self.rows = list(rows)

    def __next__(self):
        if not self.rows:
            raise StopIteration
        return self.rows.pop(0)


class WholeCursor(Cursor):
    def __iter__(self):
        return self


class Batches:
    def __init__(self, x, cursor):
        self.x = x
        self.cursor = cursor

    def __iter__(self):
        return self.cursor(self.x)


def inputs():
    return torch.randn(4, 8)


def walk(batches):
    yield from batches


def breaks(x):
    return torch.stack([row.relu() for row in walk(Batches(x, Cursor))])


@fix("rewrite", "exact")
def fixed(x):
    """The class has an `__iter__` that returns the object itself, so it is a complete iterator."""
    return torch.stack([row.relu() for row in walk(Batches(x, WholeCursor))])
