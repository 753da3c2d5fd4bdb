"""The one projector: connectivity, supports, interfaces, reduction as full = A · reduced + offset."""

from flexmbs.projection.interfaces import Averaged, averaging_rows
from flexmbs.projection.model import NodalModel
from flexmbs.projection.projection import Projection
from flexmbs.projection.stages import Assembler

__all__ = ["Assembler", "Averaged", "NodalModel", "Projection", "averaging_rows"]
