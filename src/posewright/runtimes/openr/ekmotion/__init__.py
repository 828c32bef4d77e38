"""EKMotion, the Eagle Knights' object for motions other than walking: poses of an EKMoves.h, by a table."""

from __future__ import annotations

from posewright.runtimes.openr.ekmotion.ekmotion import EKMotion as EKMotion
from posewright.runtimes.openr.ekmotion.ekmotion import EKMotionData as EKMotionData
from posewright.runtimes.openr.ekmotion.moves import PoseLoad as PoseLoad
from posewright.runtimes.openr.ekmotion.moves import SpecialMove as SpecialMove
from posewright.runtimes.openr.ekmotion.moves import SpecialMoves as SpecialMoves
from posewright.runtimes.openr.ekmotion.moves import open_moves as open_moves
