"""The command ``python -m tests.conformance``."""

import sys

from ._runner import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
