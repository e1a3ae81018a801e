"""`fullgraph where`: where in a program should `torch.compile` be applied?

In the order in which they run:

pipeline.py    starts the server for a program and collects its facts; imports no torch
server.py      the process that runs the program once, recording, and then starts the workers
recording.py   records the outermost calls of the program's modules and compiled functions
call_sites.py  the lines and expressions with which the program calls and compiles
choices.py     lists the places to try: the whole model, its repeated blocks, single submodules
worker.py      a process that holds one choice: compiles, compares with eager mode, times rounds
applying.py    compiles the modules of one choice
measuring.py   starts one worker per choice and lets them take turns
facts.py       what the server tells the pipeline; imports no torch
choosing.py    from facts to a recommendation; imports no torch
report.py      the result
"""
