"""Consistency: checks of every part of a recording against the others, which a forgery seldom survives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.recordings.consistency.check import check_consistency as check_consistency
    from posewright.recordings.consistency.inconsistency import Inconsistency as Inconsistency
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
