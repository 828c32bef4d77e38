"""Terms put to an SMT solver: the one place that knows z3."""

from posewright.charts.proof.smt.own_symbols import keep_own_symbols

keep_own_symbols()
