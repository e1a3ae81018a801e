"""Branches on tensors: what is known about the code around them, and how they are written anew.

place.py       the branch that a break is about
scope.py       the function and the class around it
flow.py        in which order the statements of a function run
operations.py  what is known of operators
value.py       what reading tells of an expression
values.py      reading: shapes and types of expressions, as far as it tells them
truth.py       a test as a tensor
sides.py       what a side of a branch binds
stores.py      tensors that are written to in place
calls.py       what may be put into a function
selecting.py   a branch as `torch.where`
calling.py     a branch as `torch.cond`
checking.py    a branch that only raises
writing.py     statements as text
cases_*.py     programs for the fixers' tests
"""
