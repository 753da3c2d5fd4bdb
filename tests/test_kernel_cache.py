"""Kernels kept on disk are those of the sources as they are."""

from __future__ import annotations

import os
from pathlib import Path

from flexmbs.kernel_cache import forget_stale_kernels


def test_kernels_are_forgotten_when_any_file_changes(tmp_path: Path) -> None:
    package = tmp_path / "package"
    (package / "inner" / "__pycache__").mkdir(parents=True)
    source = package / "inner" / "called.py"
    source.write_text("x = 1\n")
    kept = package / "inner" / "__pycache__" / "caller.kernel-1.py311.nbi"
    forget_stale_kernels(package)
    kept.write_text("compiled")
    forget_stale_kernels(package)
    assert kept.exists()
    os.utime(source, ns=(1, 1))
    forget_stale_kernels(package)
    assert not kept.exists()


def test_a_folder_that_cannot_be_written_to_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "__pycache__").write_text("a file where the folder should be")
    forget_stale_kernels(tmp_path)
