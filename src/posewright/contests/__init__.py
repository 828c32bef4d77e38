"""Contests: rules as data, the judge of a trace, the referee of a trial, scores and places."""

from __future__ import annotations

from posewright.contests.entry import Breach, check_entry
from posewright.contests.judge import judge, rules_of
from posewright.contests.progress import LegProgress, progress
from posewright.contests.race import Race
from posewright.contests.ranking import Standing, rank
from posewright.contests.referee import Referee
from posewright.contests.result import LegResult, Penalty, Result
from posewright.contests.rules import OBSTACLE_RACE, Rules, parse_rules, read_rules, rules, rules_names
from posewright.contests.score import LegScore, score

__all__ = [
    "OBSTACLE_RACE",
    "Breach",
    "LegProgress",
    "LegResult",
    "LegScore",
    "Penalty",
    "Race",
    "Referee",
    "Result",
    "Rules",
    "Standing",
    "check_entry",
    "judge",
    "parse_rules",
    "progress",
    "rank",
    "read_rules",
    "rules",
    "rules_names",
    "rules_of",
    "score",
]
