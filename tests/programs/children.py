"""Starts the Python processes that its arguments name; it does not import torch."""

import os
import subprocess
import sys

PYTHON = sys.executable
CODE = ["-c", "print('child', flush=True)"]
OTHER_PATH = {**os.environ, "PYTHONPATH": "elsewhere"}


def spawn(argv, environment=os.environ):
    os.waitpid(os.posix_spawn(argv[0], argv, environment), 0)


STARTS = {
    # Not captured.
    "isolated": lambda: subprocess.run([PYTHON, "-I", *CODE]),
    "without site": lambda: subprocess.run([PYTHON, "-uS", *CODE]),
    "ignoring": lambda: subprocess.run([PYTHON, "-W", "ignore", "-E", *CODE]),
    "no environment": lambda: subprocess.run([PYTHON, *CODE], env={}),
    "other path": lambda: subprocess.run([PYTHON, *CODE], env=OTHER_PATH),
    "inherited files": lambda: subprocess.run([PYTHON, *CODE], env={}, close_fds=False),
    "posix_spawn": lambda: spawn([PYTHON, "-I", *CODE]),
    "spawnv": lambda: os.spawnv(os.P_WAIT, PYTHON, [PYTHON, "-I", *CODE]),
    "spawnve": lambda: os.spawnve(os.P_WAIT, PYTHON, [PYTHON, *CODE], {}),
    "script": lambda: subprocess.run([sys.argv[1]], env={}),
    # Captured, or not Python.
    "plain": lambda: subprocess.run([PYTHON, *CODE]),
    "option of the program": lambda: subprocess.run([PYTHON, *CODE, "-I"]),
    "value of an option": lambda: subprocess.run([PYTHON, "-X", "dev", "-W", "ignore", *CODE]),
    "no Python": lambda: subprocess.run(["echo", "child"], env={}),
}

for name in sys.argv[2:]:
    STARTS[name]()
missing = f"{PYTHON}-that-does-not-exist"
try:
    subprocess.run([missing, "-I"])
except FileNotFoundError:
    print("missing", flush=True)
