"""Compiles a function that breaks, then ends in the way that its first argument names."""

import gc
import os
import signal
import sys
import threading

import torch


def talks(x):
    x = x + 1
    print("hello")
    return x * 2


torch.compile(talks, backend="eager")(torch.ones(2))
# Python then ends without looking at every object of torch, which takes a second.
gc.freeze()
how = sys.argv[1] if len(sys.argv) > 1 else "return"
sys.stdout.flush()
if how == "exit":
    sys.exit(7)
if how == "raise":
    raise ValueError("the program's own failure")
if how == "kill":
    os.kill(os.getpid(), signal.SIGKILL)
if how == "wait":
    signal.signal(signal.SIGTERM, lambda *_: print("terminated", flush=True))
    print("ready", flush=True)
    threading.Event().wait()
