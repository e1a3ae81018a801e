"""Processes that wait at the recorded calls: each is the program as it was before one call.

A checkpoint is forked when the program is about to make the call. It forks once more for each
trial, so it stays as it is. It ends when the process that has run the program ends.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import torch
from msgspec import Struct, json

from fullgraph.fix.model import TrialRequest
from fullgraph.fix.record.recorder import CallRecorder, RecordedCall
from fullgraph.fix.trials.children import Children, end_with_parent
from fullgraph.fix.trials.runner import Part

_TICK = 0.02
# Together, checkpoints use at most this part of the memory that was free before the first one.
_PART_OF_MEMORY = 0.5
# Where the free memory is not known.
_MOST_CHECKPOINTS = 4


class PartRequest(Struct, frozen=True):
    """What a checkpoint is asked to do."""

    request: TrialRequest
    part: Part


@dataclass
class Checkpoint:
    """A waiting process, as seen by the process that has run the program."""

    process: int
    channel: socket.socket
    _buffer: bytes = b""

    def start(self, request: TrialRequest, part: Part) -> None:
        """Start a part of a trial; its end is in `ended` later."""
        with suppress(OSError):
            self.channel.sendall(json.encode(PartRequest(request, part)) + b"\n")

    def ended(self) -> list[Part] | None:
        """Return the parts that have ended, after waiting for input; None if the process has."""
        try:
            received = self.channel.recv(1 << 16)
        except OSError:
            received = b""
        if not received:
            return None
        *lines, self._buffer = (self._buffer + received).split(b"\n")
        return [json.decode(line, type=Part) for line in lines]

    def end(self) -> None:
        """End the process."""
        self.channel.close()
        with suppress(OSError):
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)


class Checkpoints:
    """Makes checkpoints, as far as memory allows; a `CheckpointMaker`."""

    def __init__(self, *, can_fork: Callable[[CallRecorder], bool], private: Sequence[int]) -> None:
        """`private` are the file descriptors that only this process may hold open."""
        self._can_fork = can_fork
        self._private = private
        self._by_call: dict[RecordedCall, Checkpoint] = {}
        self._is_possible: bool | None = None
        self._limit: int | None = None
        # What uninstalls the recorder, so that a checkpoint can compile.
        self.stop_recording: Callable[[], None] = lambda: None

    def is_possible(self, recorder: CallRecorder) -> bool:
        """Return whether this process can be forked."""
        if self._is_possible is None:
            self._is_possible = self._can_fork(recorder)
            free = _free_memory()
            self._limit = None if free is None else int(free * _PART_OF_MEMORY)
        return self._is_possible

    def has_room(self) -> bool:
        """Return whether there is enough memory for another checkpoint.

        A checkpoint shares its memory with this process, until one of them writes to it.
        """
        number = len(self._by_call)
        if self._limit is None or not number:
            return number < _MOST_CHECKPOINTS
        used = self._used_memory()
        while used > self._limit and self._by_call:
            self.give_up(list(self._by_call)[-1])
            used = self._used_memory()
        # A new one will use as much as the others on average.
        return used + used // number <= self._limit

    def _used_memory(self) -> int:
        """Return the bytes that this process and its checkpoints use more than it would alone."""
        processes = [os.getpid(), *(each.process for each in self._by_call.values())]
        return max(sum(_memory(each, "Pss") for each in processes) - _memory(os.getpid(), "Rss"), 0)

    def make(self, recorder: CallRecorder, call: RecordedCall) -> None:
        """Make the checkpoint of a call that is about to be made."""
        mine, its = socket.socketpair()
        process = os.fork()
        if process == 0:
            with suppress(BaseException):
                mine.close()
                self._serve(recorder, call, its)
            os._exit(0)
        its.close()
        self._by_call[call] = Checkpoint(process, mine)

    def give_up(self, call: RecordedCall) -> None:
        """End the checkpoint of a call that is not kept."""
        checkpoint = self._by_call.pop(call, None)
        if checkpoint is not None:
            checkpoint.end()

    def of(self, calls: Sequence[RecordedCall]) -> dict[int, Checkpoint]:
        """Return the checkpoints of recorded calls by the number of the call."""
        return {call.number: self._by_call[call] for call in calls if call in self._by_call}

    def end(self) -> None:
        """End all checkpoints."""
        for call in list(self._by_call):
            self.give_up(call)

    def _serve(
        self, recorder: CallRecorder, call: RecordedCall, channel: socket.socket
    ) -> NoReturn:
        """Run parts of trials until the channel is closed."""
        for other in self._by_call.values():
            other.channel.close()
        for descriptor in self._private:
            os.close(descriptor)
        if threading.current_thread() is threading.main_thread():
            # The end of another thread would end this process, too.
            end_with_parent()
        # The program's handlers are for its own process.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        self.stop_recording()
        with ExitStack() as neutral:
            # The call's own modes are restored for each call.
            neutral.enter_context(torch.inference_mode(False))
            neutral.enter_context(torch.enable_grad())
            for device in ("cpu", "cuda"):
                neutral.enter_context(torch.autocast(device, enabled=False))
            _serve_parts(recorder.only([call]), channel)
        os._exit(0)


def _serve_parts(recorder: CallRecorder, channel: socket.socket) -> None:
    from fullgraph.fix.runtime.hot_patch import index_functions

    children, buffer, is_indexed = Children(), b"", False
    (call,) = recorder.calls
    while True:
        readable, _, _ = select.select([channel], [], [], _TICK if children else None)
        if readable:
            received = channel.recv(1 << 20)
            if not received:
                children.kill()
                return
            *lines, buffer = (buffer + received).split(b"\n")
            for line in lines:
                if not is_indexed:
                    is_indexed = True
                    index_functions()
                wanted = json.decode(line, type=PartRequest)
                call.number = wanted.part.call
                children.start(wanted.request, recorder, wanted.part)
        for part in children.ended():
            channel.sendall(json.encode(part) + b"\n")


def _free_memory() -> int | None:
    """Return the bytes of memory that programs can still get; None if that is not known."""
    with suppress(OSError, ValueError):
        for line in Path("/proc/meminfo").read_text().splitlines():
            name, _, value = line.partition(":")
            if name == "MemAvailable":
                return int(value.split()[0]) * 1024
    return None


def _memory(process: int, kind: str) -> int:
    """Return the bytes of memory of a process: all (`Rss`), or its share of them (`Pss`)."""
    with suppress(OSError, ValueError):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            name, _, value = line.partition(":")
            if name == kind:
                return int(value.split()[0]) * 1024
    return 0
