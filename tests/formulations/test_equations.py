"""Equations are checked and cannot be changed."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from flexmbs.equations import Equations
from flexmbs.errors import ProjectionError

GOOD = {"M": np.eye(3), "f": np.zeros(3), "J": np.ones((2, 3)), "gamma": np.zeros(2)}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"M": np.eye(2)}, "M is 2 × 2 and J is 2 × 3"),
        ({"f": np.zeros(2)}, r"f has shape \(2,\), but M and J ask for \(3,\)"),
        ({"gamma": np.zeros(3)}, r"gamma has shape \(3,\)"),
        ({"phi": np.zeros(1)}, r"phi has shape \(1,\)"),
        ({"phi_rate": np.zeros(1)}, r"phi_rate has shape \(1,\)"),
        ({"labels": ["one"]}, "1 labels for 2 constraint rows"),
        ({"J": np.ones(3)}, "J has two dimensions"),
        ({"f": [0.0, np.nan, 0.0]}, "f contains NaN or infinity, first at position 1"),
        ({"M": np.diag([1.0, np.inf, 1.0])}, "M contains NaN"),
        ({"M": sp.csr_array(np.diag([1.0, np.nan, 1.0]))}, "M contains NaN"),
    ],
)
def test_what_does_not_fit_is_refused(change, words):
    with pytest.raises(ProjectionError, match=words):
        Equations(**{**GOOD, **change})


def test_everything_is_copied_and_read_only():
    M = np.eye(3)
    e = Equations(**{**GOOD, "M": M}, phi=[0.0, 1.0], labels=["a", "b"])
    M[0, 0] = 5.0
    assert e.M[0, 0] == 1.0
    for array in (e.M, e.f, e.J, e.gamma, e.phi):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    assert e.name(1) == "b"
    assert Equations(**GOOD).name(1) == "row 1"


def test_one_sparse_matrix_makes_both_sparse():
    e = Equations(**{**GOOD, "M": sp.eye_array(3)})
    assert e.sparse
    assert sp.issparse(e.J)
    assert isinstance(e.dense().J, np.ndarray)
    assert (e.size, e.rows, e.symmetric) == (3, 2, True)
    assert not Equations(**{**GOOD, "M": np.triu(np.ones((3, 3)))}).symmetric
