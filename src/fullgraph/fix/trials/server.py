"""A process that runs the program once, recording, and then serves trials.

    python -m fullgraph.fix.trials.server REQUESTS REPLIES FOLDER SCRIPT|-m MODULE [ARG]...

REQUESTS and REPLIES are the numbers of open pipes. A request runs at the checkpoints of its calls
(see `checkpoint.py`), and in a fork of this process where there is none. The parts write their
results and outcomes to FOLDER. When all have ended and were judged, the numbers of the request and
of its calls are written to REPLIES.

A process that has used a GPU, or the threads that autograd has with some builds of torch, cannot
be forked. It executes requests itself, one after the other, and restores its state between them.
"""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import Struct, json

from fullgraph.fix.model import EndedTrial, ProgramRecorded, TrialRequest
from fullgraph.fix.record.checkpoints import CheckpointRecorder
from fullgraph.fix.record.program import RecordedProgram, record_program
from fullgraph.fix.record.recorder import CallRecorder, RecordedCall
from fullgraph.fix.trials.checkpoint import Checkpoints
from fullgraph.fix.trials.children import Children, end_with_parent
from fullgraph.fix.trials.judge_process import JudgeProcess
from fullgraph.fix.trials.runner import Part, write_error

# `trials.fork` imports the compiler. It is imported when the program calls a compiled function for
# the first time, because a program may set the compiler's environment variables first.

_TICK = 0.02
# These need all calls in one process.
_TOGETHER = ("timing", "variants")
# These run one call of each way through a function.
_BY_WAY = ("probe", "exercise", "probe_outcomes")


def main(
    arguments: list[str],
    script_text: str | None = None,
    wanted: frozenset[int] | None = None,
) -> None:
    """Record the program, then serve requests until the pipe is closed.

    `script_text` is run in place of the text of the script's file, and `wanted` are the calls to
    record.
    """
    requests, replies, folder, *target = arguments
    end_with_parent()
    judge = JudgeProcess.forked() if hasattr(os, "fork") else JudgeProcess.spawned()
    pipes = (int(requests), int(replies))
    checkpoints = Checkpoints(can_fork=_can_fork, private=(*pipes, *judge.descriptors))
    recorder = CheckpointRecorder(checkpoints=checkpoints, wanted=wanted)
    checkpoints.stop_recording = recorder.stop
    program = record_program(target, recorder, script_text)
    recorder.values.save(Path(folder))
    _serve(program, recorder, Server(recorder, checkpoints, judge, Path(folder), *pipes))
    checkpoints.end()
    # So that its CPU time counts for whoever waits for this process.
    judge.end()
    # The program's threads and exit handlers must not run.
    os._exit(0)


def _can_fork(recorder: CallRecorder) -> bool:
    from fullgraph.fix.runtime.hot_patch import index_functions
    from fullgraph.fix.trials.fork import can_fork, preload_compiler

    if not can_fork():
        return False
    with recorder.paused():
        preload_compiler(gradients=recorder.needs_gradients())
    # Checkpoints inherit the index, and memory that no garbage collection touches stays shared.
    index_functions()
    return True


def _serve(program: RecordedProgram, recorder: CheckpointRecorder, server: Server) -> None:
    recorded = ProgramRecorded(
        calls=tuple(call.target.name for call in recorder.calls),
        functions=tuple(each.name for each in recorder.targets),
        positions=tuple(call.position for call in recorder.calls),
        error=program.error,
        details=program.details,
        main_file=program.main_file,
        not_kept=dict(recorder.not_kept),
        cpu_seconds=_cpu_seconds(),
        sources=program.sources.fingerprints,
        started=program.sources.started,
        seconds=program.seconds,
    )
    if recorded.error or not recorded.calls:
        # There is nothing to try, so the compiler is not imported.
        server.reply(recorded)
        return
    server.prepare()
    server.reply(msgspec.structs.replace(recorded, can_fork=server.can_fork))
    server.serve()


def _cpu_seconds() -> float:
    from fullgraph.fix.trials.execute import cpu_seconds

    return cpu_seconds()


class Server:
    """Runs the parts of requests and has them judged."""

    def __init__(
        self,
        recorder: CallRecorder,
        checkpoints: Checkpoints,
        judge: JudgeProcess,
        folder: Path,
        requests: int,
        replies: int,
    ) -> None:
        self._recorder = recorder
        self._checkpoints = checkpoints
        self._judge = judge
        self._folder = folder
        self._requests = requests
        self._replies = replies
        self._children = Children()
        # The parts of each request that have not been judged, and all of its parts.
        self._waiting: dict[int, tuple[TrialRequest, set[Part], list[Part]]] = {}
        self.can_fork = True
        self._left_trace = False

    def prepare(self) -> None:
        """Import what trials need; the program has run."""
        from fullgraph.fix.runtime.hot_patch import index_functions
        from fullgraph.fix.trials.fork import can_fork, preload_compiler

        self.can_fork = can_fork()
        if not self.can_fork:
            self._checkpoints.end()
        preload_compiler(gradients=self._recorder.needs_gradients())
        index_functions()
        self._by_call = self._checkpoints.of(self._recorder.calls)
        if not self.can_fork:
            from fullgraph.fix.trials.process_state import ProcessState

            self._state = ProcessState(self._recorder)

    def serve(self) -> None:
        """Run requests until the client closes its pipe."""
        buffer = b""
        while True:
            readable = self._select()
            if self._requests in readable:
                received = os.read(self._requests, 1 << 20)
                if not received:
                    break
                *lines, buffer = (buffer + received).split(b"\n")
                for line in lines:
                    self._start(json.decode(line, type=TrialRequest))
            for part in self._ended_parts(readable):
                self._judge.start(part, self._waiting[part.number][0])
            if self._judge.replies in readable:
                for part in self._judge.ended():
                    self._finish(part)
        self._children.kill()

    def _select(self) -> set[int]:
        channels = [each.channel.fileno() for each in self._by_call.values()]
        inputs = [self._requests, self._judge.replies, *channels]
        readable, _, _ = select.select(inputs, [], [], _TICK if self._children else None)
        return set(readable)

    def _start(self, request: TrialRequest) -> None:
        parts = self._parts_of(request)
        if request.task in ("probe", "probe_outcomes"):
            # Compiling is what makes probes expensive.
            most_compiled = -(-request.most_compiled // len(parts))
            request = msgspec.structs.replace(request, most_compiled=most_compiled)
        self._waiting[request.number] = (request, set(parts), parts)
        if request.given == "all":
            for part in parts:
                self._judge.start(part, request)
            return
        for part in parts:
            if part.call in self._by_call:
                self._by_call[part.call].start(request, part)
                continue
            if self.can_fork:
                recorder = self._recorder.only(self._calls_here(request))
                self._children.start(request, recorder, part)
                continue
            # Each call compiles by itself, as it does at a checkpoint.
            mine = [each for each in self._recorder.calls if part.call in (0, each.number)]
            self._execute_here(request, self._recorder.only(mine), part)

    def _parts_of(self, request: TrialRequest) -> list[Part]:
        folder = str(self._folder)
        if request.task in _TOGETHER:
            return [Part(folder, request.number)]
        if request.parts:
            return [Part(folder, request.number, *each) for each in request.parts]
        seen: set[tuple[int, str]] = set()
        parts = []
        for call in self._recorder.calls:
            way = (id(call.target), call.path)
            is_new, wanted = way not in seen, not request.calls or call.number in request.calls
            seen.add(way)
            is_apart = call.number in self._by_call or not self.can_fork
            if is_apart and wanted and (is_new or request.task not in _BY_WAY):
                parts.append(Part(folder, request.number, call.number, varies=is_new))
        if self._calls_here(request):
            parts.append(Part(folder, request.number))
        return parts

    def _calls_here(self, request: TrialRequest) -> list[RecordedCall]:
        """Return the calls of a request that have no checkpoint."""
        if request.task in _TOGETHER:
            return self._recorder.calls
        if not self.can_fork or (request.calls and 0 not in request.calls):
            return []
        return [call for call in self._recorder.calls if call.number not in self._by_call]

    def _execute_here(self, request: TrialRequest, recorder: CallRecorder, part: Part) -> None:
        from fullgraph.fix.trials.fork import execute_here

        execute_here(request, recorder, part, self._state.isolate)
        self._state.restore()
        self._left_trace = self._left_trace or not self._state.is_restored()
        self._judge.start(part, request)

    def _ended_parts(self, readable: set[int]) -> Iterator[Part]:
        yield from self._children.ended()
        for number, checkpoint in list(self._by_call.items()):
            if checkpoint.channel.fileno() not in readable:
                continue
            ended = checkpoint.ended()
            if ended is not None:
                yield from ended
                continue
            # It was killed, perhaps for lack of memory.
            del self._by_call[number]
            for _, parts, _ in list(self._waiting.values()):
                for part in parts:
                    if part.call == number:
                        write_error(part, "the process that keeps the state of this call has ended")
                        yield part

    def _finish(self, part: Part) -> None:
        _, left, parts = self._waiting[part.number]
        left.discard(part)
        if not left:
            del self._waiting[part.number]
            ran = tuple((each.call, each.varies) for each in parts)
            self.reply(EndedTrial(part.number, ran, self._left_trace))

    def reply(self, message: Struct) -> None:
        """Write a line to the client."""
        data = json.encode(message) + b"\n"
        while data:
            data = data[os.write(self._replies, data) :]


if __name__ == "__main__":
    main(sys.argv[1:])
