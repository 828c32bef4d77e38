"""Search: minimises a score over bounded numbers with CMA-ES, with a journal to resume from; and executors.

The package depends on neither robots nor gaits. A `Problem` declares its numbers and evaluates their values;
`tune` searches the best values with CMA-ES (Hansen's evolution strategy with covariance matrix adaptation,
from the package `cma`), writes every evaluation to a journal, and resumes from an existing journal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.search.executors import MAX_WORKERS as MAX_WORKERS
    from posewright.search.executors import map_in_order as map_in_order
    from posewright.search.executors import open_executor as open_executor
    from posewright.search.journal import Journal as Journal
    from posewright.search.journal import read_journal as read_journal
    from posewright.search.plan import MAX_POPULATION as MAX_POPULATION
    from posewright.search.plan import MAX_SEED as MAX_SEED
    from posewright.search.plan import MAX_SPREAD as MAX_SPREAD
    from posewright.search.plan import MIN_POPULATION as MIN_POPULATION
    from posewright.search.plan import REASON as REASON
    from posewright.search.plan import Dimension as Dimension
    from posewright.search.plan import Evaluation as Evaluation
    from posewright.search.plan import Fact as Fact
    from posewright.search.plan import Plan as Plan
    from posewright.search.plan import Problem as Problem
    from posewright.search.plan import make_plan as make_plan
    from posewright.search.plan import require_seed as require_seed
    from posewright.search.result import Attempt as Attempt
    from posewright.search.result import EndReason as EndReason
    from posewright.search.result import Generation as Generation
    from posewright.search.result import TuningResult as TuningResult
    from posewright.search.search import tune as tune
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
