"""Terms put to an SMT solver: the one place that knows z3."""
