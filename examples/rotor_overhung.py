"""A rotor with an overhung disc: at which speeds does it whirl, forward and backward?

A shaft in two bearings carries a disc beyond the second one. Tilting, the spinning disc resists with the gyroscopic
moment J_p Ω θ': whirl with the spin (forward) becomes stiffer with the speed, whirl against it softer. The bearings
yield more sideways than up and down, so that the equations are constant only as seen from the ground; there unbalance
shakes with the speed itself, and a critical speed is where a frequency is Ω. Damping in the shaft turns with it and
drives forward whirl beyond the first critical speed; damping in the bearings holds it.
"""

from pathlib import Path

import numpy as np

import flexmbs as fm
from flexmbs import view

LENGTH, OVERHANG, RADIUS = 0.6, 0.2, 0.02  # m
steel = fm.Material(young=210e9, poisson=0.3, density=7850.0, name="steel")
ground = fm.Ground()
mesh = fm.Mesh.line((0, 0, 0), (LENGTH + OVERHANG, 0, 0), 16)
bearing = mesh.nearest_node((LENGTH, 0, 0))
shaft = fm.FlexibleBody(
    "shaft", mesh, steel, section=fm.Section.circle(2 * RADIUS),
    interfaces=["start", bearing, "end"],  # two bearings and the seat of the disc
    reduction=fm.CraigBampton(modes=4),    # whole pairs of bending modes: the shaft is alike in all directions
    damping=fm.Rayleigh(stiffness=4e-6),
)  # fmt: skip
disc = fm.RigidBody.cylinder("disc", radius=0.15, length=0.03, density=7850.0, axis="x")
seat = fm.Fixed("seat", shaft.at("end"), disc.at(0, 0, 0))


def rotor(sideways: float, damping: float) -> fm.System:
    """The rotor on bearings of 50 MN/m upwards (z), less sideways (y)."""
    stiffness, dampers = (1e8, sideways, 5e7, 0, 0, 0), (0, damping, damping, 0, 0, 0)
    bearings = [
        fm.Bushing(f"bearing at {x}", ground.at(x, 0, 0), shaft.at(place), stiffness, dampers)
        for x, place in ((0.0, "start"), (LENGTH, bearing))
    ]
    return fm.System([ground, shaft, disc], [seat], bearings)


speeds = np.linspace(0, 1200, 25)  # rad/s
diagram = fm.campbell(rotor(1e7, 4e3), speeds, axis="x", count=4)
dry = fm.campbell(rotor(1e7, 0.0), speeds, axis="x", count=2)
print(diagram.table().splitlines()[0])
for line in diagram.table().splitlines()[1::6]:
    print(line)
for crossing in diagram.critical_speeds:
    print(f"critical speed {crossing.speed:.1f} rad/s ({crossing.frequency:.2f} Hz) {crossing.direction}")
print(f"stable up to {diagram.stability_limit:.0f} rad/s; with dry bearings up to {dry.stability_limit:.0f} rad/s")

# the disc shaken sideways while it runs, seen from the ground
hertz = np.linspace(5.0, 100.0, 96)
response = fm.frequency_response(rotor(1e7, 4e3), hertz, (disc.at(0, 0, 0), "y"), disc.at(0, 0, 0), spin=(600.0, 0, 0))
peak = hertz[np.argmax(np.abs(response.response[:, 1, 0]))]
print(f"at 600 rad/s a sideways force of 1 N moves the disc most at {peak:.0f} Hz")

if __name__ == "__main__":
    view.campbell(diagram, damping=True, title="Rotor with overhung disc").savefig("rotor_overhung.png")
    print(f"\nThe diagram is in {Path('rotor_overhung.png').absolute()}")
