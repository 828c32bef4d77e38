"""Exploration: every state that a chart can come into, and every way in which a tick can go there.

seen = explore(chart)
seen.complete, seen.reasons     whether that is all there is; if not, why
seen.reached                    states, breadth first
seen.situations                 of these, one for all that differ in counted time only and now go the same
                                ways: enough for whoever asks what can happen, and many times fewer
seen.cases(state)               the ways in which a tick can go, each with inputs that show it
seen.trace_to(state)            the shortest inputs from the start to there
seen.taken()                    for each way of the machine, the first state and case that takes it
"""

from posewright.charts.exploration.case import Case
from posewright.charts.exploration.exploration import Exploration, explore
from posewright.charts.exploration.limits import Limits

__all__ = ["Case", "Exploration", "Limits", "explore"]
