"""What can go wrong, by the part of the work in which it goes wrong."""

from __future__ import annotations


class FlexmbsError(ValueError):
    """Base of all errors about input: what is wrong, where, and what to do."""


class MeshError(FlexmbsError):
    """A mesh, one of its sets or its file cannot be used as asked."""


class MaterialError(FlexmbsError):
    """A material or a section is not physical, or is missing."""


class ProjectionError(FlexmbsError):
    """Constraints contradict each other, or sizes do not fit."""


class ModelError(FlexmbsError):
    """A body, joint, force or system cannot be built as asked."""


class AnalysisError(FlexmbsError):
    """An analysis cannot be carried out on this model."""


class FileError(FlexmbsError):
    """A file of results cannot be read, written or continued."""


class MeshWarning(UserWarning):
    """A mesh can be used, but looks like a mistake."""


class ModelWarning(UserWarning):
    """A mechanism can be used, but not quite as described: what was changed or is doubtful, by name."""


class SolverError(RuntimeError):
    """A linear solve or an eigenvalue iteration failed; the message says why."""
