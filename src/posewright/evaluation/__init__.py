"""Evaluation: figures of walks, motions and other runs, computed from their recordings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.evaluation.motion.report import MotionResult as MotionResult
    from posewright.evaluation.motion.report import evaluate_motion as evaluate_motion
    from posewright.evaluation.motion.report import finding_data as finding_data
    from posewright.evaluation.motion.report import physics_table as physics_table
    from posewright.evaluation.run_result import RunResult as RunResult
    from posewright.evaluation.run_result import evaluate as evaluate
    from posewright.evaluation.run_result import evaluate_run as evaluate_run
    from posewright.evaluation.run_result import result_lines as result_lines
    from posewright.evaluation.stress import StressMap as StressMap
    from posewright.evaluation.thresholds import PhysicsRules as PhysicsRules
    from posewright.evaluation.trajectory import Trajectory as Trajectory
    from posewright.evaluation.walking.benchmark import BenchmarkReport as BenchmarkReport
    from posewright.evaluation.walking.figures import FALLS as FALLS
    from posewright.evaluation.walking.figures import FIGURES as FIGURES
    from posewright.evaluation.walking.figures import Figure as Figure
    from posewright.evaluation.walking.figures import Worse as Worse
    from posewright.evaluation.walking.figures import compare_table as compare_table
    from posewright.evaluation.walking.figures import walk_lines as walk_lines
    from posewright.evaluation.walking.report import GaitReport as GaitReport
    from posewright.evaluation.walking.report import WalkResult as WalkResult
    from posewright.evaluation.walking.report import evaluate_walk as evaluate_walk
    from posewright.evaluation.walking.walk import Correction as Correction
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
