"""Two charts side by side: both get the same inputs, tick by tick, and are compared.

`Product` runs one tick of both. `equivalent` explores every pair of states that two charts reach together and
compares their outputs; `are_equivalent_in_states` does so for a chart and its mutant, states included.
"""

from __future__ import annotations

from posewright.charts.product.equivalence import Equivalence, are_equivalent_in_states, equivalent
from posewright.charts.product.product import PairTick, Product, StatePair
from posewright.charts.product.terms import have_same_terms

__all__ = [
    "Equivalence",
    "PairTick",
    "Product",
    "StatePair",
    "are_equivalent_in_states",
    "equivalent",
    "have_same_terms",
]
