"""A planetary gear and a rack lift a weight: ratios by Willis, torque by the ratio, and what redundancy means.

The motor turns the sun; the ring stands still; the carrier, with three planets, turns a pinion that lifts a rack. Seen
from the carrier all axes stand still, and the wheels turn as their teeth say (Willis 1841):

    (ω_sun - ω_carrier) / (ω_ring - ω_carrier) = -z_ring / z_sun,   so that  ω_carrier = ω_sun z_sun / (z_sun + z_ring).

Each gear is one row between angles that are counted from the carrier. Two of the three planets would do nothing but
share the load: two rows follow from the others, and are named.
"""

from pathlib import Path

import numpy as np

import flexmbs as fm
from flexmbs import view

SUN, PLANET, RING, MODULE = 18, 15, 48, 0.002  # numbers of teeth; pitch diameter = module · teeth [m]
PINION, SPEED, SPIN_UP, G = 0.015, 60.0, 0.5, 9.81  # radius of the pinion [m], speed of the motor [rad/s]

ground = fm.Ground()
carrier = fm.PlanarBody("carrier", mass=0.8, inertia=4e-4)
sun = fm.PlanarBody("sun", mass=0.2, inertia=5e-5)
rack = fm.PlanarBody("rack", mass=6.0, inertia=0.1)
planets = [fm.PlanarBody(f"planet {k}", mass=0.1, inertia=1e-5) for k in range(3)]

arm = MODULE * (SUN + PLANET) / 2
ring_bearing = fm.planar.Revolute("ring_bearing", carrier.at(0, 0), ground.at(0, 0))  # the carrier first: it counts
sun_bearing = fm.planar.Revolute("sun_bearing", carrier.at(0, 0), sun.at(0, 0))
joints = [ring_bearing, sun_bearing]
for k, planet in enumerate(planets):
    way = 2 * np.pi * k / 3
    pin = fm.planar.Revolute(f"pin {k}", carrier.at(arm * np.cos(way), arm * np.sin(way)), planet.at(0, 0))
    joints += [
        pin,
        fm.Gear(f"sun and planet {k}", sun_bearing.angle, pin.angle, SUN, PLANET),
        fm.Gear(f"planet {k} and ring", pin.angle, ring_bearing.angle, PLANET, RING, internal=True),
    ]
slide = fm.planar.Prismatic("slide", ground.at(PINION, 0), rack.at(0, 0), axis="y")
turning = fm.component(carrier.at(0, 0), "angle")
joints += [slide, fm.RackAndPinion("lift", turning, slide.distance, PINION)]
motor = fm.Drive("motor", fm.component(sun.at(0, 0), "angle"), fm.SpinUp(SPEED, over=SPIN_UP))
hoist = fm.System([ground, carrier, sun, rack, *planets], [*joints, motor], [fm.Gravity((0, -G, 0))])
print(hoist.report(), "\n")

motion = fm.forward_dynamics(hoist, t_end=1.0, step=1e-3, output_step=5e-3)
print(motion.summary(), "\n")
ratio = SUN / (SUN + RING)
speeds = {body.name: motion.angular_velocity(body)[-1, 2] for body in (sun, carrier, planets[0])}
torque = motion.reaction(motor)
holding = rack.mass * G * PINION * ratio
print(f"carrier {speeds['carrier']:.6f} rad/s, by Willis {SPEED * ratio:.6f}")
print(f"the rack rises by {motion.velocity(rack)[-1, 1]:.4f} m/s")
print(f"torque of the motor: up to {torque.max():.4f} Nm, at steady speed {torque[-1]:.6f} Nm")
print(f"weight of the rack · radius of the pinion · ratio: {holding:.6f} Nm")

if __name__ == "__main__":
    tooth = planets[0].at(MODULE * PLANET / 2, 0)
    both = [("motor [N m]", torque), ("weight · radius · ratio [N m]", np.full_like(torque, holding))]
    view.plot(motion, [both], title="torque that lifts the rack").savefig("gear_train_torque.png")
    start = motion.at(motion.t[:61])  # later the rack is far up
    picture = view.snapshot(start, Path("gear_train.png").absolute(), traces=[tooth])
    print(f"\nThe gears are in {picture}")
