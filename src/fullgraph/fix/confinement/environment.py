"""Which variables of the environment a verified program gets: none that may be a key."""

from __future__ import annotations

import re
from collections.abc import Mapping

# Parts of names. `KEYBOARD` and `AUTHOR` are none of these, but losing them harms nothing.
_NAMES = re.compile(
    r"KEY|TOKEN|SECRET|PASS(W|PHRASE|$)|PWD$(?<!^PWD)(?<!^OLDPWD)|CREDENTIAL|AUTH|COOKIE|PRIVATE|"
    r"BEARER|SIGNATURE|WEBHOOK|(^|_)PAT($|_)|(^|_)DSN($|_)|^SSH_|^GPG_|^DBUS_|^AWS_|^AZURE_|"
    r"^GOOGLE_|^GCP_|^GITHUB_|^GITLAB_|^CI_|^VAULT_|^KUBE",
    re.IGNORECASE,
)
# How values begin that services give out as keys, and addresses with a password in them.
_VALUES = re.compile(
    r"\b(sk|pk|rk)-[\w-]{12,}|\bAIza[\w-]{20,}|\bgh[opsur]_\w{16,}|\bgithub_pat_\w+|\bhf_\w{16,}|"
    r"\bglpat-\w+|\bxox[abprs]-|\b(AKIA|ASIA)[A-Z0-9]{12,}|\beyJ[\w-]{10,}\.|"
    r"-----BEGIN|://[^/\s:@]*:[^/\s@]+@"
)


def without_keys(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables whose names and values do not look like keys."""
    return {
        name: value
        for name, value in environment.items()
        if not _NAMES.search(name) and not _VALUES.search(value)
    }
