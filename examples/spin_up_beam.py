"""A beam is spun up: it lags behind, then centrifugal tension holds it straight; a linear theory lets it fly apart.

Kane, Ryan and Banerjee's benchmark: a cantilever of 8 m whose root turns from rest to 6 rad/s in 15 s. In the frame of
the root, K + K(ω) loses its stiffness where ω passes the first frequency of bending: K(ω) = -ω² m. The tension ∫ρA ω² x
adds K_g, which outgrows it. Turned off, deflections grow without bound; the cure is on unless stiffening=False.
"""

import warnings
from pathlib import Path

import numpy as np

import flexmbs as fm
from flexmbs import view

LENGTH, SPEED, RAMP = 8.0, 6.0, 15.0
aluminium = fm.Material(young=7e10, poisson=0.3, density=3000.0)
section = fm.Section(area=7.2968e-5, Iy=8.2181e-9, Iz=8.2181e-9, J=1.6436e-8)
mesh = fm.Mesh.line((0, 0, 0), (LENGTH, 0, 0), 10)


def spin_up(stiffening: bool, t_end: float) -> tuple[fm.Result, fm.FlexibleBody]:
    """The motion, and the beam."""
    ground = fm.Ground()
    beam = fm.FlexibleBody(
        "beam", mesh, aluminium, section=section, fixed="start", reduction=fm.CraigBampton(modes=4), interfaces="end",
        stiffening=stiffening,
    )  # fmt: skip
    hinge = fm.Revolute("hinge", ground.at(0, 0, 0), beam.at(), axis="z")  # without a place: the frame at the root
    motor = fm.Drive("motor", hinge.angle, fm.SpinUp(SPEED, over=RAMP))
    system = fm.System([ground, beam], [hinge, motor])
    return fm.forward_dynamics(system, t_end=t_end, step=5e-3, output_step=0.02), beam


motion, beam = spin_up(stiffening=True, t_end=20.0)
with warnings.catch_warnings():  # flexmbs says that this deforms far too much
    warnings.simplefilter("ignore", fm.ModelWarning)
    linear, soft = spin_up(stiffening=False, t_end=8.0)
tip, wrong = (m.deflection(b.at("end"))[:, 1] for m, b in ((motion, beam), (linear, soft)))
peak = int(np.argmin(tip))
first = fm.modes(mesh, aluminium, section=section, fixed="start", count=1).frequencies[0]
print(f"first frequency at rest {2 * np.pi * first:.2f} rad/s, less than the final speed, {SPEED} rad/s")
print(f"the tip lags by up to {-tip[peak]:.4f} m at t = {motion.t[peak]:.2f} s (reference: 0.8007 m at 6.62 s)")
print(f"without stiffening: {-wrong[-1]:.1f} m at t = {linear.t[-1]:.1f} s, and growing")

if __name__ == "__main__":
    curves = [("with stiffening [m]", tip), ("linear theory [m]", linear.t, np.where(wrong > -2.0, wrong, np.nan))]
    view.plot(motion, [curves], title="tip of the beam, seen from its root").savefig("spin_up_beam_tip.png")
    times = (0.5, 4.0, float(motion.t[peak]))
    picture = view.snapshot(motion, Path("spin_up_beam.png").absolute(), at=times, color="displacement", look="z")
    print(f"The beam is in {picture}")
