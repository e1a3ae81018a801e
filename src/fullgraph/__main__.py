"""Command-line entry point: prints an error as one line and exits with its code, mostly 2."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; `python -m fullgraph` and the script `fullgraph` call this."""
    try:
        from fullgraph.commands import cli
        from fullgraph.errors import FullgraphError
    except KeyboardInterrupt:
        # Ctrl-C while everything is loaded.
        sys.exit(130)
    try:
        cli(prog_name="fullgraph")
    except FullgraphError as error:
        print(f"fullgraph: {error}", file=sys.stderr)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
