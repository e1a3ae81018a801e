"""Branches on tensors: what is known about the code around them, and how they are written anew.

place.py       the branch that a break is about
scope.py       the function and the class around it
operations.py  what is known of operators
values.py      shapes and types of expressions, as far as reading tells them
truth.py       a test as a tensor
stores.py      tensors that are written to in place
writing.py     statements as text
"""
