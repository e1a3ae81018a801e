"""`python -m fullgraph` and the `fullgraph` script."""

from __future__ import annotations

import sys


def main() -> None:
    from fullgraph.commands import cli
    from fullgraph.errors import FullgraphError

    try:
        cli(prog_name="fullgraph")
    except FullgraphError as error:
        print(f"fullgraph: {error}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
