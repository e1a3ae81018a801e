"""Explanations from a language model: off unless asked for, and checked where that is possible.

What happens, in this order:

    selection.py    which model: `--model`, `FULLGRAPH_MODEL`; its address and its key (`keys.py`)
    places.py       what is asked about: `FILE:LINE` in a session, an id, or a pasted message
    facts.py        what is known about it; `source_parts.py` and `fixer_facts.py` add code
    prompts/        the instructions, one readable file each, and the fences around data
    masking.py      no secret leaves the machine
    providers/      one file per provider; the only modules that import its package
    asking.py       tries, waits, limits of time and cost (`prices.py`)
    answer.py       the form of an answer; `partial_answer.py` reads it while it arrives
    checks/         one file per kind of claim
    explain.py      all of this for `fullgraph explain --ai`
    classify.py     the model's category for each entry of the registry, and ours
    reachability.py what is configured, and whether it answers

Nothing here imports torch, or the package of a provider before a question is asked.
"""
