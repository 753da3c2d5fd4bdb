"""Reading files of results without the program that made them."""

from __future__ import annotations

from typing import Any

from flexmbs.analyses import (
    campbell,
    elastic_response,
    equilibrium,
    frequency_response,
    linear_model,
    mass_properties,
    modes,
    spinning_models,
    spinning_system,
    statics,
)
from flexmbs.analyses.saved_runs import RUNS, made
from flexmbs.results.file import as_path, read
from flexmbs.results.known import classes_of

MODULES = (
    *(equilibrium, elastic_response, statics, modes, campbell, frequency_response, linear_model),
    *(mass_properties, spinning_models, spinning_system),
)
ALL = {**RUNS, **classes_of(MODULES)}
"""What may be in files, with what analyses give."""


def load(path: Any) -> Any:
    """What ``save`` wrote, without the program that made it: a Result, or whatever else was saved.

    Its bodies, joints and forces are those of ``result.system``, by name: ``result.system.named("rod")``. Histories are
    read from the file when they are looked at. The file of a run that goes on or was killed is read as far as it got.
    Python functions of the model are what they were at the instants kept; in between they are interpolated.
    """
    where = as_path(path)
    return made(where, read(where), ALL)
