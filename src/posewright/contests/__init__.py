"""Contests: what one is, which there are, judging a recording, inspecting a robot; each has a folder."""

from __future__ import annotations

from posewright.contests.contest import Contest, Entry, Note, Place, Referee, Score, ScoreTable
from posewright.contests.field import lay_out
from posewright.contests.inspection import Inspection, Measures, Verdict, inspect_measures
from posewright.contests.obstacle_race import (
    LegProgress,
    LegResult,
    LegScore,
    ObstacleRace,
    Penalty,
    Race,
    RaceReferee,
    Result,
    Rules,
    Standing,
    parse_rules,
    progress,
    rank,
    read_rules,
    rules,
    score,
)
from posewright.contests.passivity_test import PassivityScore, PassivityTest
from posewright.contests.picture import ContestPicture, Mark, MarkKind, Series, Span
from posewright.contests.registry import contest, contest_names, contest_of, judge

__all__ = [
    "Contest",
    "ContestPicture",
    "Entry",
    "Inspection",
    "LegProgress",
    "LegResult",
    "LegScore",
    "Mark",
    "MarkKind",
    "Measures",
    "Note",
    "ObstacleRace",
    "PassivityScore",
    "PassivityTest",
    "Penalty",
    "Place",
    "Race",
    "RaceReferee",
    "Referee",
    "Result",
    "Rules",
    "Score",
    "ScoreTable",
    "Series",
    "Span",
    "Standing",
    "Verdict",
    "contest",
    "contest_names",
    "contest_of",
    "inspect_measures",
    "judge",
    "lay_out",
    "parse_rules",
    "progress",
    "rank",
    "read_rules",
    "rules",
    "score",
]
