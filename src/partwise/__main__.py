"""Lets `python -m partwise` be the `partwise` command."""

import sys

from partwise.cli import main

if __name__ == "__main__":
    sys.exit(main())
