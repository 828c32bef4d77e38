"""The generator of C99 from charts: no heap, no recursion, no dependencies, results as in the interpreter."""

from __future__ import annotations

from posewright.codegen.c.chart import ChartGenerator, Options
from posewright.codegen.c.unit_spec import ChartUnitSpec

__all__ = ["ChartGenerator", "ChartUnitSpec", "Options"]
