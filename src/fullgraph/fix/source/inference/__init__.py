"""Inference: read the source of a function and say what its expressions are.

Two layers answer two questions. Both use one `Scope` (scope.py: arguments, attributes of `self`,
buffers, modules) and one table of operators (`fix/source/torch_ops.py`).

- What is this expression, wherever it stands in the function? `KindInference` (kinds.py) answers
  with a `Kind`: tensor, boolean tensor, integer tensor, index, Python number, shape. It ignores the
  order of statements: a name has the properties that all its values have (bindings.py).
- What does this expression evaluate to at one statement, and is it safe to compute it there?
  `FunctionInference` (function.py) follows the statements up to that one. It answers with an
  `AbstractValue` (value.py): shape, dtype, aliasing and gradient risk. `ExpressionInference`
  (expressions.py) is the part of it that reads one expression.

The fixers of branches on tensors need the second answer, because they compute both sides of a
branch. Other fixers need the first one. Both answers are conservative: a fact is missing rather
than wrong.
"""
