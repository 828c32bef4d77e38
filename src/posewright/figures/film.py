"""The film of a trial, drawn from its trace alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from posewright.arenas import Box, arena, arena_names
from posewright.errors import InputError, UnknownNameError
from posewright.figures.encoder import SUFFIXES, check_film_path, encoder
from posewright.recordings import Header, Recording
from posewright.robots import Robot, robot

if TYPE_CHECKING:
    from posewright.simulation import World

__all__ = ["SUFFIXES", "card_document", "film_trial", "stage_of"]


def card_document(name: str) -> str:
    """Return under what name a trace carries the card of a robot that does not ship."""
    return f"{name}.robot.yaml"


def stage_of(header: Header, card: Robot | None = None) -> World:
    """Build the world a trace was made in, from what the trace carries.

    Args:
        header: of the trace.
        card: of the robot; needed where it is somebody's own, whose model does not travel with a trace.

    Raises:
        InputError: the arena or the robot is none that this version knows, or the card is another robot's.
    """
    from posewright.simulation import World

    kind = str(header.arena.get("name", ""))
    if kind not in arena_names():
        raise UnknownNameError.among("arena", kind, arena_names())
    boxes = [Box(x, y, yaw) for x, y, yaw in header.boxes]
    return World(_card(header, card), arena(kind).with_boxes(boxes))


def _card(header: Header, card: Robot | None) -> Robot:
    if card is None:
        if card_document(header.robot) in header.documents:
            raise InputError(
                f"the trace is of {header.robot!r}, a robot with a card of its own",
                hint="a model does not travel with a trace: hand in the robot's card",
            )
        return robot(header.robot)
    if (card.name, card.joint_names) != (header.robot, header.joints):
        raise InputError(f"the trace is not of {card.name!r}", hint=f"it is of {header.robot!r}")
    return card


def film_trial(
    trace: Recording,
    path: str | Path,
    *,
    camera: str = "field",
    size: tuple[int, int] = (640, 480),
    fps: float = 16.0,
    speed: float = 1.0,
    card: Robot | None = None,
    tell: Callable[[float], None] | None = None,
) -> None:
    """Make a film of a trial.

    Args:
        trace: what happened.
        path: where to: .mp4, .mkv or .webm.
        camera: `field`, `top`, `chase`, `side`, `front`, or a camera sensor of the robot.
        size: width and height in pixels, both even.
        fps: pictures a second of film.
        speed: trial seconds a second of film.
        card: of the robot, where that does not ship.
        tell: is told the share done, 0..1.

    Raises:
        InputError: a file ending that is no film's, or a trace that does not know where the robot was, or
            whose robot does not ship.
        MissingExtraError: what encodes films is not installed.
        UnavailableError: nothing can be drawn on this machine.
    """
    path = Path(path)
    check_film_path(path)
    if not trace.knows_world:
        raise InputError("the trace does not say where the robot was: there is nothing to film")
    from posewright.simulation import Film

    width, height = size
    with (
        Film(stage_of(trace.header, card), width, height, camera, quick=True) as film,
        encoder(path, size, fps) as send,
    ):
        rows = _rows(trace, fps, speed)
        for count, row in enumerate(rows, 1):
            send(
                np.ascontiguousarray(
                    film.frame(trace.base[row], trace.joint_positions[row], trace.boxes[row])
                )
            )
            if tell is not None:
                tell(count / len(rows))


def _rows(trace: Recording, fps: float, speed: float) -> list[int]:
    """Return the row shown in each picture."""
    moments = np.arange(trace.times[0], trace.times[-1], speed / fps)
    return [int(row) for row in np.searchsorted(trace.times, moments)]
