"""The command ``python -m tests.conformance``."""

import sys
from pathlib import Path

from ._runner import main

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))  # this checkout, installed or not
    sys.exit(main(sys.argv[1:]))
