"""`fullgraph recompiles`: why a program compiles again, and remedies that were replayed.

pipeline.py         the stages in order: capture, group, propose, replay, report
context.py          what remedies know about the program
remedies/           one file per remedy, found by walking the folder
candidate.py        a proposed remedy; source_changes.py has the edits, and features.py what the
                    installed torch offers
search.py           which remedies are replayed together and which apart
replay.py           runs the program again, in forks of zygote.py; messages.py is what they send
replayed_program.py the fork: size_guards.py and the comparison of results
judge.py            whether a remedy helps, from the counts of run_facts.py
writes.py           the run in eager mode that shows which lines write a value
report.py           the result as frozen structs
"""
