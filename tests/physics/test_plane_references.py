"""Plane parts against published numbers with every cell: FV32, LE1 (NAFEMS) and Cook's membrane."""

from __future__ import annotations

import numpy as np
import pytest
from cases.elements import COOK, FV32, LE1, cook_membrane, elliptic_membrane, tapered_membrane


@pytest.mark.parametrize(("cell", "divisions"), [("triangle6", (32, 16)), ("quad", (120, 60))])
def test_fv32_tapered_membrane(cell: str, divisions: tuple[int, int]) -> None:
    np.testing.assert_allclose(tapered_membrane(cell, divisions).frequencies, FV32, rtol=1e-3)


@pytest.mark.parametrize(("cell", "divisions"), [("triangle6", (20, 40)), ("quad", (24, 48)), ("quad8", (16, 32))])
def test_le1_elliptic_membrane(cell: str, divisions: tuple[int, int]) -> None:
    at_d = elliptic_membrane(cell, divisions)
    assert at_d[1] == pytest.approx(LE1, rel=0.02)
    assert abs(at_d[2]) < 1e-6 * LE1  # plane stress


@pytest.mark.parametrize(("cell", "division"), [("triangle6", 40), ("quad", 64)])
def test_cook_membrane(cell: str, division: int) -> None:
    np.testing.assert_allclose(cook_membrane(cell, division), COOK, rtol=1e-3)


def test_cook_membrane_locks_with_plain_quads() -> None:
    """On a coarse mesh the internal modes matter: this is what they are for."""
    error = {
        name: abs(cook_membrane("quad", 8, formulation=name)[0] / COOK[0] - 1) for name in ("incompatible", "plain")
    }
    assert error["incompatible"] < 0.02
    assert error["plain"] > 0.05
