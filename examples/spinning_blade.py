"""A blade spins: its frequencies rise, because centrifugal tension stiffens it more than rotation softens it.

In the frame that turns with ω the modes λ solve λ²M + λC(ω) + K + K(ω) + K_g(σ(ω)), here in 20 modes of the blade at
rest. Southwell's formula says how the first bending frequency follows the speed Ω = |ω|, f² = f0² + B (Ω/2π)², with a
number B of the order of 1 that is larger for a larger hub. Without K_g the blade would soften. What stands still around
it, such as a few struts, shakes it at whole multiples of the speed (engine orders): it must not run where these meet
its frequencies.
"""

from pathlib import Path

import numpy as np

import flexmbs as fm
from flexmbs import view

MESHES = Path(__file__).parents[1] / "meshes"

titanium = fm.Material(young=114e9, poisson=0.34, density=4430.0, name="titanium")
blade = fm.FlexibleBody(
    "blade", fm.Mesh.read(MESHES / "blade.msh"), titanium, fixed="root", reduction=fm.ModalTruncation(modes=20)
)
diagram = fm.campbell(blade, speeds=np.linspace(0, 900, 31), axis="z", count=6)  # rad/s; the hub radius is in the mesh
softened = fm.campbell(blade, speeds=[0.0, 900.0], axis="z", count=1, stiffening=False)

frequencies, turns = diagram.frequencies, diagram.speeds / (2 * np.pi)
southwell = (frequencies[1:, 0] ** 2 - frequencies[0, 0] ** 2) / turns[1:] ** 2
every_node = fm.modes(blade.reduced.part.elements, fixed="root", count=3, spin=(0.0, 0.0, 900.0))

print("speed [rad/s]   first three frequencies [Hz]")
for k in (0, 15, 30):
    print(f"{diagram.speeds[k]:13.0f}   " + " ".join(f"{f:8.1f}" for f in frequencies[k, :3]))
print(f"without stiffening at 900 rad/s: {softened.frequencies[-1, 0]:.1f} Hz")
print("Southwell's coefficient of the first mode:", np.round(southwell[[9, 29]], 3))
for order in (2, 3, 4):
    for mode, speed, frequency, _ in diagram.crossings(order):
        print(f"order {order} meets mode {mode + 1} at {speed:.1f} rad/s, {frequency:.1f} Hz")

if __name__ == "__main__":
    view.campbell(diagram, orders=(1, 2, 3, 4), title="Spinning blade").savefig("spinning_blade_campbell.png")
    print(f"\nThe shapes are in {view.modes(every_node, Path('spinning_blade.png').absolute())}")
