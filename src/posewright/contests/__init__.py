"""Contests: what one is, which there are, judging a recording, inspecting a robot; each has a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.bodies import PlanarPose as PlanarPose
    from posewright.contests.arenas import all_arena_names as all_arena_names
    from posewright.contests.arenas import find_arena as find_arena
    from posewright.contests.consistency import find_inconsistencies as find_inconsistencies
    from posewright.contests.contest import HALT as HALT
    from posewright.contests.contest import NEW_TRY as NEW_TRY
    from posewright.contests.contest import RESTARTS as RESTARTS
    from posewright.contests.contest import Contest as Contest
    from posewright.contests.contest import DayContest as DayContest
    from posewright.contests.contest import DefaultEntry as DefaultEntry
    from posewright.contests.contest import Duel as Duel
    from posewright.contests.contest import Note as Note
    from posewright.contests.contest import RankedScore as RankedScore
    from posewright.contests.contest import Referee as Referee
    from posewright.contests.contest import Score as Score
    from posewright.contests.contest import ScoreTable as ScoreTable
    from posewright.contests.exhibition.contest import Exhibition as Exhibition
    from posewright.contests.exhibition.contest import ExhibitionScore as ExhibitionScore
    from posewright.contests.inspection import Inspection as Inspection
    from posewright.contests.inspection import Measures as Measures
    from posewright.contests.inspection import Verdict as Verdict
    from posewright.contests.inspection import inspect_measures as inspect_measures
    from posewright.contests.obstacle_race.contest import LegProgress as LegProgress
    from posewright.contests.obstacle_race.contest import ObstacleRace as ObstacleRace
    from posewright.contests.obstacle_race.contest import progress as progress
    from posewright.contests.obstacle_race.race import Race as Race
    from posewright.contests.obstacle_race.referee import RaceReferee as RaceReferee
    from posewright.contests.obstacle_race.rules import Rules as Rules
    from posewright.contests.obstacle_race.rules import parse_rules as parse_rules
    from posewright.contests.obstacle_race.rules import read_rules as read_rules
    from posewright.contests.obstacle_race.rules import rules as rules
    from posewright.contests.obstacle_race.score import LegResult as LegResult
    from posewright.contests.obstacle_race.score import Penalty as Penalty
    from posewright.contests.obstacle_race.score import Result as Result
    from posewright.contests.obstacle_race.score import rank as rank
    from posewright.contests.obstacle_race.score import score as score
    from posewright.contests.own_fields import FieldFault as FieldFault
    from posewright.contests.own_fields import OwnFieldContest as OwnFieldContest
    from posewright.contests.own_fields import check_own_field as check_own_field
    from posewright.contests.own_fields import prepare_own_field as prepare_own_field
    from posewright.contests.passivity_test.contest import PassivityScore as PassivityScore
    from posewright.contests.passivity_test.contest import PassivityTest as PassivityTest
    from posewright.contests.picture import ContestPicture as ContestPicture
    from posewright.contests.picture import Mark as Mark
    from posewright.contests.picture import MarkKind as MarkKind
    from posewright.contests.picture import Series as Series
    from posewright.contests.picture import Span as Span
    from posewright.contests.places import earned_by_places as earned_by_places
    from posewright.contests.places import rank_places as rank_places
    from posewright.contests.registry import contest as contest
    from posewright.contests.registry import contest_names as contest_names
    from posewright.contests.registry import contest_of as contest_of
    from posewright.contests.registry import describe_attached_rules as describe_attached_rules
    from posewright.contests.registry import has_contest as has_contest
    from posewright.contests.registry import judge as judge
    from posewright.contests.stairs.climb import PassedStep as PassedStep
    from posewright.contests.stairs.climb import StairsPenalty as StairsPenalty
    from posewright.contests.stairs.climb import StairsScore as StairsScore
    from posewright.contests.stairs.contest import Stairs as Stairs
    from posewright.contests.sumo.bout import SumoScore as SumoScore
    from posewright.contests.sumo.contest import Sumo as Sumo
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
