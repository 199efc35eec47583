"""Lets `python -m partwise.cli` be the `partwise` command."""

import sys

from partwise.cli import main

if __name__ == "__main__":
    sys.exit(main())
