"""Stage 1: run the program once in eager mode and record the calls of its compiled functions.

recorder.py   the recorder, the recorded calls and the context of each
intercept.py  replaces torch.compile and Module.compile for a while
program.py    runs a script or a module as `__main__`
"""
