"""`fullgraph fix --apply` and `--undo`: writes verified fixes to the user's files, all or none.

changes.py   from a plan to the new bytes of the user's files
project.py   which files are the program's own
write.py     the checks in front of writing
git.py       whether git has a file as it is
journal.py   writes several files, all or none, also if the process is killed
undo.py      reverts what was written
patches.py   patches for code that is not the user's
"""

from __future__ import annotations

from fullgraph.fix.apply.changes import user_changes
from fullgraph.fix.apply.git import require_clean
from fullgraph.fix.apply.journal import Change, recover
from fullgraph.fix.apply.patches import third_party_patches, write_patch
from fullgraph.fix.apply.undo import undo
from fullgraph.fix.apply.write import apply_changes

__all__ = [
    "Change", "apply_changes", "recover", "require_clean", "third_party_patches", "undo",
    "user_changes", "write_patch",
]  # fmt: skip
