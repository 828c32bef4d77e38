"""Windows of the studio that ask for whatever they like: sequences of requests, each with its arguments."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any

from posewright.errors import InputError, PosewrightError
from posewright.robots.catalogue import CATALOGUE_FOLDER
from posewright.studio.requests import read_request
from posewright.studio.studio import Studio, open_studio

ANSWER_TIMEOUT_S = 60.0
MAX_REQUESTS = 40
NOD = CATALOGUE_FOLDER / "sony_ers7" / "motions" / "nod.motion.yaml"

SEQUENCES: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "edit": [
        ("session.look", {"page": 1, "keyframe": 1, "selected": [0, 1]}),
        ("timeline.copy", {}),
        ("timeline.paste", {"text": "keyframes: []"}),
        ("timeline.duplicate", {}),
        ("timeline.move", {"before": 0}),
        ("timeline.delete", {}),
        ("curves.sample", {"joints": ["neck_tilt"], "from_s": 0.0, "until_s": 1.0}),
        ("session.undo", {}),
        ("session.redo", {}),
        ("player.manner", {"speed": 2.0, "loop": True}),
        ("player.seek", {"time_s": 0.5}),
        ("sound.load", {"file": "nod.motion.yaml"}),
    ],
    "pose": [
        ("teach.connect", {"body": "mock"}),  # opens it while the next are answered
        ("posing.camera", {"view": "side"}),
        ("posing.keep_feet", {"on": True}),
        ("posing.move", {"limb": "head", "forward_mm": 5.0, "left_mm": 0.0, "up_mm": -3.0}),
        ("posing.stand_on", {"foot": "left_front"}),
        ("truth.rules", {"name": "eagle_knights"}),
        ("truth.angles", {"joint": "neck_tilt"}),
        ("teach.hold", {"limb": "all"}),
        ("teach.move", {"joint": "neck_tilt", "angle_deg": -10.0}),
        ("teach.record_pose", {"is_new": True, "seconds": 0.5}),
        ("teach.disconnect", {}),
    ],
    "files": [
        ("files.folder", {}),
        ("files.new", {"name": "bow", "robot": "sony_ers7", "pose": "stand", "anyway": True}),
        ("files.save", {"name": "bow.motion.yaml", "over": True}),
        ("files.export", {"file": "bow.mtn", "format": "aibo-omtn", "accept_loss": True}),
        ("files.preview", {"file": "bow.csv", "format": "uc3m-csv"}),
        ("files.drop", {"name": "dropped.motion.yaml", "data": "bW90aW9uOiBubw=="}),
        ("files.open", {"file": "nod.motion.yaml", "anyway": True}),
        ("files.open_shipped", {"name": "nod", "robot": "sony_ers7", "anyway": True}),
        ("files.discard", {"draft": "nod"}),
    ],
    "field": [
        ("session.choose", {"mode": "arena"}),
        ("arena.new", {"name": "mine", "anyway": True}),
        ("arena.edit", {"command": "add_box", "arguments": {"x": 1.0, "y": 0.25, "yaw_deg": 30}}),
        ("arena.judge_by", {"name": "obstacle-race"}),
        ("arena.place_layout", {"name": "random", "seed": 3}),
        ("arena.save", {"name": "mine.arena.yaml", "over": True}),
        ("arena.open", {"name": "mine.arena.yaml", "anyway": True}),
        ("trial.draw", {"lasers": True, "follow": False}),
        ("trial.open", {"file": "nod.motion.yaml"}),
        ("trial.look", {"at": "robot", "time_s": 1.0}),
        ("trial.step", {"rows": 10}),
    ],
    "gait": [
        ("session.choose", {"mode": "gait"}),
        ("gait.open", {"gait": "trot", "anyway": True}),
        ("gait.set", {"values": {"ground_speed_m_s": 0.2}, "gesture": "drag"}),
        ("gait.steer", {"forward_m_s": 0.1, "left_m_s": 0.0, "turn_deg_s": 10.0}),
        ("gait.phase", {"foot": "left_front", "lifts": 0.25}),
        ("gait.shape", {"phases": "crawl", "interpolation": "linear"}),
        ("gait.sample", {"file": "trot.motion.yaml", "cycles": 2, "every_frames": 16}),
        ("gait.save", {"file": "mine.gait.yaml", "over": True}),
        ("gait.reset", {}),
    ],
}


def studio_sequences() -> dict[str, bytes]:
    """Return the sequences as JSON, by name."""
    return {
        f"{name}.json": json.dumps([{"id": 1, "do": do, "with": values} for do, values in requests]).encode()
        for name, requests in SEQUENCES.items()
    }


def perform_studio_actions(path: Path) -> None:
    """Open a motion in the studio, and perform the requests in a file.

    Raises:
        InputError: the file is not a list of requests.
        AssertionError: an action raised an exception that is not one of ours.
    """
    try:
        requests = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InputError(f"not JSON: {error}") from error
    folder = path.parent / "studio"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copy(NOD, folder)
    studio = open_studio(folder / NOD.name)
    try:
        for request in requests[:MAX_REQUESTS] if isinstance(requests, list) else [requests]:
            with suppress(PosewrightError):
                _perform(studio, json.dumps(request))
    finally:
        studio.close()
        shutil.rmtree(folder)


def _perform(studio: Studio, text: str) -> None:
    """Perform a request, and wait for its answer."""
    request = read_request(text)
    try:
        outcome = studio.session.do_and_wait(
            lambda: studio.session.perform(request.action, request.arguments)
        )
        if isinstance(outcome, Future):
            outcome = outcome.result(ANSWER_TIMEOUT_S)
    except PosewrightError as error:
        if error.message.startswith("internal error"):
            raise AssertionError(error.message) from error
        raise
    json.dumps(outcome, allow_nan=False)
