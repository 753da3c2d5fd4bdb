"""What the coordinates of a reduced part are, and how well they serve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexmbs.reduction.stiffening import LoadCases

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ModeRow:
    """One reduced coordinate.

    Attributes
    ----------
    frequency : [Hz], in the floating frame.
    effective_mass : for motion of the frame along x, y, z [kg].
    shares : share of the strain energy by kind of component shape, e.g. {"interface small_end": 0.8, ...}.
    error : estimate of the relative error of the frequency, from the residual of the full model.
    """

    frequency: float
    effective_mass: tuple[float, float, float]
    shares: dict[str, float]
    error: float

    @property
    def kind(self) -> str:
        """The kinds of shapes it is made of, largest share first."""
        order = sorted(self.shares.items(), key=lambda item: -item[1])
        return ", ".join(f"{name} {100 * share:.0f} %" for name, share in order if share >= 0.05)


def energy_shares(labels: tuple[str, ...], coefficients: Array, stiffness: Array) -> list[dict[str, float]]:
    """Shares of the kinds of shapes in the strain energy of each coordinate.

    ``coefficients`` (shapes, r) of the coordinates in the shapes, ``stiffness`` K of the shapes. The kind of "interface
    small_end rx" is "interface small_end", that of "held mode 3" "held mode".
    """
    kinds = [label.rsplit(" ", 1)[0] for label in labels]
    work = coefficients * (stiffness @ coefficients)
    total = work.sum(axis=0)
    out: list[dict[str, float]] = []
    for k in range(coefficients.shape[1]):
        shares: dict[str, float] = {}
        for kind, value in zip(kinds, work[:, k], strict=True):
            shares[kind] = shares.get(kind, 0.0) + float(value / total[k])
        out.append(shares)
    return out


def written(rows: tuple[ModeRow, ...], neglected: float, cases: LoadCases, axes: int) -> str:
    """The table as text, with what the reduction leaves out below it."""
    names = "xyz"[:axes]
    head = "  ".join(f"{'m_' + a + ' [kg]':>10}" for a in names)
    lines = [f"{'no':>4}  {'frequency [Hz]':>14}  {'error':>8}  {head}  made of"]
    for k, row in enumerate(rows):
        masses = "  ".join(f"{m:10.4g}" for m in row.effective_mass[:axes])
        lines.append(f"{k + 1:>4}  {row.frequency:>14.6g}  {row.error:>8.1e}  {masses}  {row.kind}")
    if np.isfinite(neglected):
        lines.append(f"first component mode left out: {neglected:.4g} Hz")
    worst = _worst(cases)
    lines.append(
        f"static response: {100 * cases.missed[worst]:.2g} % of the energy under {cases.names[worst]} is left out"
    )
    return "\n".join(lines)


def _worst(cases: LoadCases) -> int:
    """The unit load with the largest share left out, among those that deform the part at all beside their kind."""
    kinds = np.array([*3 * ["a"], *3 * ["e"], *6 * ["w"], *(n.rsplit(" ", 1)[-1][:1] for n in cases.names[12:])])
    counts = np.array([cases.energy[k] >= 0.01 * cases.energy[kinds == kinds[k]].max() for k in range(len(kinds))])
    return int(np.argmax(cases.missed * counts))
