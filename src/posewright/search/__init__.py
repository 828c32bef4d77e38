"""Search: named numbers in a box, a score, CMA-ES, a journal that outlives whatever stops it; executors.

The room knows neither robots nor gaits. A `Problem` says which numbers there are and how good some values of
them are; `tune` looks for the best with CMA-ES (Hansen's evolution strategy with an adapted covariance, from
the package `cma`), writes every evaluation into a journal, and goes on where a journal ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.search.attempt import Attempt as Attempt
    from posewright.search.attempt import Ending as Ending
    from posewright.search.attempt import Generation as Generation
    from posewright.search.attempt import Tuned as Tuned
    from posewright.search.executors import MOST_WORKERS as MOST_WORKERS
    from posewright.search.executors import executor_for as executor_for
    from posewright.search.executors import in_order as in_order
    from posewright.search.journal import Journal as Journal
    from posewright.search.journal import read_journal as read_journal
    from posewright.search.plan import FEWEST as FEWEST
    from posewright.search.plan import MAX_SEED as MAX_SEED
    from posewright.search.plan import MOST_CANDIDATES as MOST_CANDIDATES
    from posewright.search.plan import REASON as REASON
    from posewright.search.plan import WIDEST_SPREAD as WIDEST_SPREAD
    from posewright.search.plan import Dimension as Dimension
    from posewright.search.plan import Evaluation as Evaluation
    from posewright.search.plan import Fact as Fact
    from posewright.search.plan import Plan as Plan
    from posewright.search.plan import Problem as Problem
    from posewright.search.plan import checked_seed as checked_seed
    from posewright.search.plan import plan_for as plan_for
    from posewright.search.search import tune as tune
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
