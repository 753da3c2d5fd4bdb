"""Every benchmark case of the validation page, within what it allows."""

from __future__ import annotations

import pytest
from cases import CASES
from cases.case import Case


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.key)
def test_case(case: Case) -> None:
    for quantity, found in zip(case.quantities, case.found(), strict=True):
        assert quantity.difference(found) <= quantity.within, f"{quantity.name}: {found}, not {quantity.reference}"
