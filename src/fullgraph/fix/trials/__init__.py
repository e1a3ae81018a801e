"""Runs one request on the recorded calls, in a process of its own.

runner.py       the protocol: submit a request, wait for its result
client.py       starts the server and talks to it
server.py       has run the program, and forks one child per request
fork.py         forking, whether it is possible, and a runner for calls recorded in this process
execute.py      what a child does: apply the plan, run eager and compiled, repeat, compare
setting_use.py  which settings have no effect
plan_reach.py   which probes of metadata reach the code that a plan changes
vary_inputs.py  other inputs of the same shapes and types
copied_program.py  runs the program from changed text as far as its recorded calls
"""
