"""Prints the name of each signal that it gets and each line that it reads, until it reads `end`."""

import signal
import sys


def show(number, frame):
    print(signal.Signals(number).name, flush=True)


for name in ("SIGCONT", "SIGHUP", "SIGINT", "SIGQUIT", "SIGUSR1"):
    signal.signal(getattr(signal, name), show)
print("ready", flush=True)
while (line := sys.stdin.readline().strip()) != "end":
    print("read", line, flush=True)
