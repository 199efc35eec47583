"""The command ``python -m tests.recordings``."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))  # this checkout, installed or not

    from tests.recordings._table import main

    sys.exit(main())
