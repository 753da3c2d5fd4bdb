"""What a compiled force declares: its kind, what it acts on, its numbers, and its functions of time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from flexmbs.bodies.body import Frame
from flexmbs.errors import FlexmbsError, ModelError
from flexmbs.joints.joint import Measure
from flexmbs.profiles import Profile, as_profile


@dataclass(frozen=True, eq=False)
class Force(ABC):
    """A force that the compiled step evaluates: a wrench on one frame, or on the two frames of a measure or a pair."""

    kind: ClassVar[int]

    name: str

    def __post_init__(self) -> None:
        named(self.name)

    @property
    @abstractmethod
    def frames(self) -> tuple[Frame | None, Frame]:
        """First and second frame; None for a force on one frame only."""

    @property
    def measure(self) -> Measure | None:
        """The measure along which it acts, if it does."""
        return None

    @property
    @abstractmethod
    def params(self) -> tuple[float, ...]:
        """Numbers of the law, see ``laws`` and the kernels."""

    @property
    def times(self) -> tuple[Profile, ...]:
        """Functions of time that the law reads."""
        return ()

    @property
    def pressing(self) -> Any | None:
        """The joint under whose reaction it rubs, if it does."""
        return None

    @property
    def curves(self) -> tuple[Profile | None, ...]:
        """Functions of elongation and speed that the law reads, None for those it does not have."""
        return (None, None)


def named(name: Any) -> None:
    """Refuse what is no name."""
    if not isinstance(name, str) or not name:
        raise ModelError(f"a force needs a name (a string), not {name!r}.")


def frame(given: Any, name: str) -> Frame:
    """The frame, if it is one."""
    if not isinstance(given, Frame):
        raise ModelError(f"{name}: a force acts on frames, e.g. crank.at(0.1, 0, 0), not {given!r}.")
    return given


def two_frames(first: Any, second: Any, name: str) -> None:
    """Refuse a pair that is not two frames of two bodies."""
    if frame(first, name).body is frame(second, name).body:
        raise ModelError(f"{name}: both frames are on {first.body.name!r}; such a force does nothing.")


def coordinate(given: Any, name: str) -> Measure:
    """The joint's coordinate, if it is one."""
    if not isinstance(given, Measure):
        raise ModelError(f"{name}: a joint's coordinate is needed, e.g. hinge.angle or slider.distance, not {given!r}.")
    return given


def time_profile(given: Any, name: str, what: str) -> Profile:
    """A scalar function of time."""
    try:
        profile = as_profile(given)
    except FlexmbsError as error:
        raise ModelError(f"{name}: {what}: {error}") from error
    if profile.shape != ():
        raise ModelError(f"{name}: {what} is one number or one function of time, not a vector.")
    return profile


def components(given: Any, name: str, what: str) -> tuple[Profile, ...]:
    """Three functions of time from three numbers or profiles, or from one vector profile."""
    if isinstance(given, Profile) and given.shape == (3,):
        return given.components()
    if (
        isinstance(given, Profile)
        or callable(given)
        or np.ndim(np.asarray(given, dtype=object)) != 1
        or len(given) != 3
    ):
        raise ModelError(f"{name}: {what} has three components (numbers or functions of time), not {given!r}.")
    return tuple(time_profile(x, name, f"{what}[{k}]") for k, x in enumerate(given))
