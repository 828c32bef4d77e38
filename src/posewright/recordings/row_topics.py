"""The rows of a trace as topics.

`/joint_states`, `/joint_commands`, `/tf` and `/row` hold the rows exactly and are read back;
`/footprint/...` and the feet in `/tf` say the same again for the eye.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from posewright.errors import InputError
from posewright.recordings import layouts, schemas
from posewright.recordings.cdr import stamps, to_ns
from posewright.recordings.header import Header
from posewright.recordings.recording import Recording
from posewright.recordings.topic import Topic
from posewright.recordings.turns import sole_poses

JOINT_STATES, JOINT_COMMANDS, TRANSFORMS, ROW = "/joint_states", "/joint_commands", "/tf", "/row"

Floats = NDArray[np.float64]
_TO_XYZW = [4, 5, 6, 3]
_FROM_XYZW = [3, 0, 1, 2]


def row_topics(trace: Recording) -> Iterator[Topic]:
    """Yield the topics that have one message a row."""
    n, header, times_ns = trace.n_rows, trace.header, to_ns(trace.times)
    stamp = stamps(times_ns)
    states = layouts.joint_state(header.joints, effort=True)
    state_messages = states.pack(n, stamp=stamp, position=trace.joint_positions, effort=trace.joint_efforts)
    yield Topic(JOINT_STATES, schemas.JOINT_STATE, times_ns, state_messages)
    commands = layouts.joint_state(header.joints, effort=False)
    command_messages = commands.pack(n, stamp=stamp, position=trace.joint_commands, effort=np.zeros((n, 0)))
    yield Topic(JOINT_COMMANDS, schemas.JOINT_STATE, times_ns, command_messages)
    yield Topic(TRANSFORMS, schemas.TF_MESSAGE, times_ns, _transforms(trace, stamp))
    yield Topic(ROW, schemas.ROW, times_ns, _rows(trace))
    for foot, name in enumerate(header.feet):
        points = trace.footprints[:, foot].astype(np.float32)
        messages = layouts.polygon(4).pack(n, stamp=stamp, points=points)
        yield Topic(f"/footprint/{name}", schemas.POLYGON_STAMPED, times_ns, messages)


def children(header: Header) -> tuple[str, ...]:
    """Return the names of the frames in `/tf`: base, boxes, feet."""
    return ("base", *(f"box_{i + 1}" for i in range(len(header.boxes))), *header.feet)


def _transforms(trace: Recording, stamp: NDArray[np.uint32]) -> list[bytes]:
    stored = [trace.base, *np.moveaxis(trace.boxes, 1, 0)]
    poses = [(pose[:, :3], pose[:, _TO_XYZW]) for pose in stored]
    poses += [sole_poses(corners) for corners in np.moveaxis(trace.footprints, 1, 0)]
    values: dict[str, NDArray[Any]] = {}
    for i, (position, rotation) in enumerate(poses):
        values |= {f"stamp_{i}": stamp, f"position_{i}": position, f"rotation_{i}": rotation}
    return layouts.transforms(children(trace.header)).pack(trace.n_rows, **values)


def _rows(trace: Recording) -> list[bytes]:
    n, header = trace.n_rows, trace.header
    return layouts.row(len(header.feet), len(header.boxes)).pack(
        n,
        time_s=trace.times,
        footprints=trace.footprints.reshape(n, 12 * len(header.feet)),
        foot_contacts=trace.foot_contacts,
        box_contacts=trace.box_contacts,
    )


def read_rows(header: Header, messages: Mapping[str, Sequence[bytes]]) -> dict[str, NDArray[Any]]:
    """Return the row arrays of a Recording from the messages on the exact topics.

    Raises:
        InputError: messages that do not fit the header.
    """
    counts = {name: len(messages.get(name, ())) for name in (JOINT_STATES, JOINT_COMMANDS, TRANSFORMS, ROW)}
    if len(set(counts.values())) > 1:
        raise InputError(f"topics of unequal length: {counts}")
    states = layouts.joint_state(header.joints, effort=True).unpack(messages.get(JOINT_STATES, ()))
    commands = layouts.joint_state(header.joints, effort=False).unpack(messages.get(JOINT_COMMANDS, ()))
    poses = layouts.transforms(children(header)).unpack(messages.get(TRANSFORMS, ()))
    n_feet, n_boxes = len(header.feet), len(header.boxes)
    rows = layouts.row(n_feet, n_boxes).unpack(messages.get(ROW, ()))
    boxes = [_pose(poses, 1 + box) for box in range(n_boxes)]
    return {
        "times": rows["time_s"],
        "joint_positions": states["position"],
        "joint_commands": commands["position"],
        "joint_efforts": states["effort"],
        "base": _pose(poses, 0),
        "footprints": rows["footprints"].reshape(counts[ROW], n_feet, 4, 3),
        "foot_contacts": rows["foot_contacts"],
        "boxes": np.stack(boxes, axis=1) if boxes else np.zeros((counts[ROW], 0, 7)),
        "box_contacts": rows["box_contacts"],
    }


def _pose(poses: dict[str, NDArray[Any]], child: int) -> NDArray[Any]:
    return np.concatenate([poses[f"position_{child}"], poses[f"rotation_{child}"][:, _FROM_XYZW]], axis=1)
