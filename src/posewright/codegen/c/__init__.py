"""The generator: C99 of charts, without heap, recursion or dependencies; it does as the interpreter does."""

from __future__ import annotations

from posewright.codegen.c.chart import ChartGenerator, Options
from posewright.codegen.c.subject import ChartSubject

__all__ = ["ChartGenerator", "ChartSubject", "Options"]
