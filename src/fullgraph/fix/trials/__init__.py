"""Runs one request on the recorded calls, in a process of its own.

The search talks to it, and it starts processes:
    runner.py       the protocol: submit a request, wait for its result; the files of a trial
    client.py       starts the server and talks to it
    server.py       has run the program, and starts a process for each part of a trial
    checkpoint.py   processes that wait as the program was before each recorded call
    fork.py         forking, whether it is possible, and a runner for calls of this process
    children.py, hanging.py, process_state.py  ends processes; restores state without forks
    copied_program.py, edited_program.py  run the program from changed text

What such a process does:
    execute.py      apply the plan, run eager and compiled, repeat, keep outcomes
    samples.py, vary_inputs.py  the recorded calls, and other inputs of the same shapes and types
    compiled.py, outcome.py  compile a target; run a call and observe it
    setting_use.py  which settings have no effect
    timing.py, variants.py  how long steady calls take
    confined_run.py, execute_confined.py, exercise.py  changes that come from outside

Probes, calls that differ in one property:
    probes/         one file per kind of property
    probing.py, probe_files.py  runs them, and keeps what they did
    helper_calls.py probes of changed functions other than the compiled ones
    plan_reach.py   which probes of metadata reach the code that a plan changes
    sides.py, side_observer.py, side_search.py  both sides of rewritten tests
    coverage.py     which changed lines run

The judge, in a process that never loads the program:
    judge.py, judge_process.py, judge_probes.py  compare outcomes
    merge.py        the results of the parts of a trial
"""
