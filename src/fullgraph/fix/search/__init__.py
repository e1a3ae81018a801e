"""Stages 3 and 4: which candidates to accept, and the verification of all of them together.

search.py    the order in which candidates are tried
state.py     the accepted fixes and the result of the last accepted trial
accept.py    when the result of a trial is good enough, and the reason if not
attempts.py  what was tried for each break and why it was rejected
verify.py    all accepted fixes together: varied inputs, every backend
"""
