"""`fullgraph fix`: finds fixes for graph breaks and verifies them before they are shown.

The stages, in order:

    record/      1. run the program once in eager mode and record its compiled calls
    fixers/      2. from a graph break to candidates and refusals, one file per fixer
    search/      3. which candidates to accept; 4. verification of all of them together;
                 5. grades: what each fix assumes
    report/      6. the report
    apply/       7. writes files, all or none, after a check in a new process

and what they use:

    source/      the user's source: locate, analyze, edit
    purity/      whether a function is pure
    trials/      runs one candidate in a process of its own
    runtime/     a plan in effect in a running process
    model.py     the structs that the stages pass to each other
    speed.py     how much faster a call is with the fixes
    cost.py      what each fix is worth
    pipeline.py  FixSession: all stages for a program
    api.py       fullgraph.compile(): the same stages for one model, in this process
"""
