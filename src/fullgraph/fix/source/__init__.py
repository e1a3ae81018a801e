"""What fixers share to read code and to change its text; no fixer is in here.

For every fixer: edit.py (changes at nodes of a syntax tree), places.py (the program's own line
behind a break that torch reports), trees.py, names.py, definitions.py.
What expressions are: tensors.py, numbers.py, size_positions.py.
For some fixers: saying.py (messages), masks.py and masked_text.py (boolean masks), experts.py with
expert_text.py, empty_rows.py and stacked.py (loops over experts), branches/ (branches on tensors).
"""
