"""EKMotion, the Eagle Knights' object for motions other than walking: poses of an EKMoves.h, by a table."""

from __future__ import annotations

from posewright.runtimes.openr.ekmotion.ekmotion import EKMotion as EKMotion
from posewright.runtimes.openr.ekmotion.ekmotion import EKMotionData as EKMotionData
from posewright.runtimes.openr.ekmotion.moves import Load as Load
from posewright.runtimes.openr.ekmotion.moves import Move as Move
from posewright.runtimes.openr.ekmotion.moves import Moves as Moves
from posewright.runtimes.openr.ekmotion.moves import open_moves as open_moves
