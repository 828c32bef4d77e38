"""Two charts side by side: both take the same inputs, tick by tick, and are compared.

`Product` follows one tick of both. `equivalent` explores every pair of states that two charts come into
together, and compares their outputs; `are_alike` does so for a chart and its mutant, states included.
"""

from __future__ import annotations

from posewright.charts.product.equivalence import Equivalence, are_alike, equivalent
from posewright.charts.product.product import PairOutcome, Product, StatePair
from posewright.charts.product.terms import are_same

__all__ = ["Equivalence", "PairOutcome", "Product", "StatePair", "are_alike", "are_same", "equivalent"]
