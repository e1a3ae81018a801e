"""`contextlib.closing` closes a reader or a cache at the end of a block."""

from contextlib import closing

import torch

from fullgraph.catalog.fix_decorator import fix


class Cache:
    def __init__(self):
        self.entries = [torch.ones(8)]

    def close(self):
        self.entries.clear()


def inputs():
    return Cache(), torch.randn(4, 8)


def breaks(cache, x):
    with closing(cache) as open_cache:
        return x * open_cache.entries[0]


@fix("rewrite", "exact")
def fixed(cache, x):
    """try and finally close it in every case too, and Dynamo traces both."""
    try:
        return x * cache.entries[0]
    finally:
        cache.close()
