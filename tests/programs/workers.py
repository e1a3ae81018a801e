"""Starts a process in each way that its arguments name; each compiles the same function.

Every process prints the name of its way and its process number. "import" starts none: the processes
that are forked afterwards have the compiler already.
"""

import gc
import importlib
import multiprocessing
import os
import subprocess
import sys

import torch


def talks(x, line):
    x = x + 1
    print(line, flush=True)
    return x * 2


def work(way):
    torch.compile(talks, backend="eager")(torch.ones(2), f"{way} {os.getpid()}")


def start(way):
    if way == "import":
        importlib.import_module("torch._dynamo")
    elif way == "launcher":
        subprocess.run([sys.executable, __file__, "alone"], check=True)
    elif way == "alone":
        work("launcher")
    elif way == "dataloader":
        list(torch.utils.data.DataLoader(Compiles(), num_workers=1, batch_size=None))
    else:
        process = multiprocessing.get_context(way).Process(target=work, args=(way,))
        process.start()
        process.join()


class Compiles(torch.utils.data.Dataset):
    def __len__(self):
        return 1

    def __getitem__(self, index):
        work("dataloader")
        return torch.zeros(1)


if __name__ == "__main__":
    for way in sys.argv[1:]:
        start(way)
    # Python then ends without looking at every object of torch, which takes a second.
    gc.freeze()
