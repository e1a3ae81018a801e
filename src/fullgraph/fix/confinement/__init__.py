"""Confines a process that runs code which somebody else wrote, for good.

`Confinement` says what the process may use, and `confine` puts it into effect for this process and
all that it starts. Imports no torch.
"""

from fullgraph.fix.confinement.process import Confinement as Confinement
from fullgraph.fix.confinement.process import confine as confine
from fullgraph.fix.confinement.process import missing as missing
