"""One BLAS thread for sparse work.

Fronts, panels and blocks of vectors are too small to gain from more (none measured on two cores), and once another
process wants a core the threads wait for each other: a factorisation then takes ten times as long.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from typing import ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
T = TypeVar("T")


@cache
def _libraries() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


def one_blas_thread(function: Callable[P, T]) -> Callable[P, T]:
    """Let BLAS use one thread while the function runs."""

    @wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> T:
        with _libraries().limit(limits=1):
            return function(*args, **kwargs)

    return limited


def find_libraries_again() -> None:
    """Look for BLAS libraries again, after a package that brings its own has been imported."""
    _libraries.cache_clear()
