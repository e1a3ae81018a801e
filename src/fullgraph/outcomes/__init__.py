"""What one call did, and whether two calls did the same.

`observe.py` turns a call into a `CallOutcome`: its outputs, gradients, mutated inputs, module
state, exception and printed lines, as flat values that can be saved. `compare.py` decides whether
two outcomes are equal. The catalog, the purity check and the trials of `fullgraph fix` use this
package, so that all of them mean the same by "equal".
"""

from __future__ import annotations

# How a difference between the printed or logged lines of two calls starts.
OUTPUT_DIFFERS = "printed or logged lines differ"
