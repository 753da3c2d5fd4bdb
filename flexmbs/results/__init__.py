"""Results: what a motion of a mechanism means."""

from flexmbs.results.gauges import StrainGauge
from flexmbs.results.motions import BodyMotion
from flexmbs.results.moving import Samples
from flexmbs.results.result import Result

__all__ = ["BodyMotion", "Result", "Samples", "StrainGauge"]
