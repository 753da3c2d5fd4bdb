"""Integrators: how (t, q, v) advances."""

from flexmbs.integrators.baumgarte import Baumgarte
from flexmbs.integrators.events import Event
from flexmbs.integrators.explicit import ExplicitRK
from flexmbs.integrators.generalized_alpha import GeneralizedAlpha
from flexmbs.integrators.newmark import ModalSuperposition, Newmark
from flexmbs.integrators.projected import Projected
from flexmbs.integrators.tangent_space import TangentSpaceODE

__all__ = [
    "Baumgarte",
    "Event",
    "ExplicitRK",
    "GeneralizedAlpha",
    "ModalSuperposition",
    "Newmark",
    "Projected",
    "TangentSpaceODE",
]
