"""Settings of all tests, before NumPy is loaded."""

from __future__ import annotations

import os

# Tests run side by side; more BLAS threads than cores make each other wait.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
