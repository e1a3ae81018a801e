"""The kinds of fixes and their safety levels, shared by the catalog and by `fullgraph fix`."""

from __future__ import annotations

from typing import Literal

# In the order of preference of `fullgraph fix`:
#   setting   the same code under another configuration
#   rewrite   different code that does the same
#   move      the work is done before or after the compiled function, or at module level
#   guard     a value guard: an input's value becomes a guarded constant
#   escape    an escape hatch: an operator or a function that Dynamo does not trace into
#   mitigate  the break remains but costs less
Kind = Literal["setting", "rewrite", "move", "guard", "escape", "mitigate"]

# From the safest to the least safe:
#   exact            the same result, bit for bit, and the same side effects
#   specialized      exact; a new value of an input recompiles
#   equal            the same result up to rounding
#   other_exception  exact; where the original raises, compiled code may raise another exception
#   reordered        output is printed or logged after the graph has run
#   dropped          output is dropped in compiled code
#   narrower         right only for the inputs that the text names
Safety = Literal[
    "exact", "specialized", "equal", "other_exception", "reordered", "dropped", "narrower"
]
