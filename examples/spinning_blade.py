"""A blade spins: its frequencies rise, because centrifugal tension stiffens it more than rotation softens it.

In the frame that turns with ω the modes λ solve λ²M + λC(ω) + K + K(ω) + K_g(σ(ω)). Southwell's formula says how
the first bending frequency follows the speed Ω = |ω|, f² = f0² + B (Ω/2π)², with a number B of the order of 1 that is
larger for a larger hub. Without K_g the blade would soften.
"""

from pathlib import Path

import numpy as np

import flexmbs as fm
from flexmbs import view

MESHES = Path(__file__).parents[1] / "meshes"

titanium = fm.Material(young=114e9, poisson=0.34, density=4430.0, name="titanium")
blade = fm.Elements(fm.Mesh.read(MESHES / "blade.msh"), titanium)
speeds = np.array([0.0, 600.0, 1200.0])  # rad/s about z; the hub radius is in the mesh

spinning = [fm.modes(blade, fixed="root", count=3, spin=(0.0, 0.0, speed)) for speed in speeds]
frequencies = np.array([modes.frequencies for modes in spinning])
softened = fm.modes(blade, fixed="root", count=1, spin=(0.0, 0.0, speeds[-1]), stiffening=False).frequencies[0]
southwell = (frequencies[1:, 0] ** 2 - frequencies[0, 0] ** 2) / (speeds[1:] / (2 * np.pi)) ** 2

print("speed [rad/s]   first three frequencies [Hz]")
for speed, row in zip(speeds, frequencies, strict=True):
    print(f"{speed:13.0f}   {row[0]:8.1f} {row[1]:8.1f} {row[2]:8.1f}")
print(f"without stiffening at {speeds[-1]:.0f} rad/s: {softened:.1f} Hz")
print("Southwell's coefficient of the first mode:", np.round(southwell, 3))

if __name__ == "__main__":
    print(f"\nThe shapes are in {view.modes(spinning[-1], Path('spinning_blade.png').absolute())}")
