"""Find, analyze and change the source of the user's program. It does not import torch.

Find: context.py (the user's frame of a graph break), locate.py (nodes at a position), text.py
(lines and functions of a file).
Analyze: names.py, module_symbols.py (definitions of a module), control_flow.py, torch_ops.py
(properties of torch operators), inference/ (what expressions are).
Change: edits.py (ranges of a file), codegen.py (new statements).
"""
