"""Workers: one job done with many things, by this process alone or by several beside it.

The room knows neither robots nor searches. Whatever can be handed to another process is a job; a crew does
it with one thing after the other and gives the results in the order of the things, whoever did which.
"""

from __future__ import annotations

from posewright.search.workers.crew import MOST_WORKERS, Crew, Job, crew_for
from posewright.search.workers.processes import Workers

__all__ = ["MOST_WORKERS", "Crew", "Job", "Workers", "crew_for"]
