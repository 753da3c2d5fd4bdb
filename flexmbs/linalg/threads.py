"""How many threads BLAS may use: one for thin blocks, where two are slower, and all for large ones."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def blas_threads(count: int = 1) -> AbstractContextManager[object]:
    """Context in which BLAS uses `count` threads, by default one."""
    limit: AbstractContextManager[object] = _libraries().limit(limits=count)
    return limit


def blas_threads_now() -> int:
    """Return the number of threads that BLAS may use at this moment."""
    return max((library.num_threads for library in _libraries().lib_controllers), default=1)


def find_libraries_again() -> None:
    """Look for BLAS libraries again, after a package that brings its own has been imported."""
    _libraries.cache_clear()
