"""Whole behaviours as C: sensors, chart, motions and servo packets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.codegen.behaviour.integer_player import PagePlayer as PagePlayer
    from posewright.codegen.behaviour.tables import PageTables as PageTables
    from posewright.codegen.behaviour.unit_spec import BehaviourUnitSpec as BehaviourUnitSpec
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
