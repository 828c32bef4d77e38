"""From a RoboPlus page to a motion."""

from __future__ import annotations

from pathlib import Path

from posewright.formats.kinds import ROBOPLUS_TEXT
from posewright.formats.motion_file import Origin
from posewright.formats.roboplus.columns import Columns
from posewright.formats.roboplus.page import IDS, Page
from posewright.formats.roboplus.text import RoboplusDocument
from posewright.motions import Easing, Keyframe, Motion, Pose, robotis_accel_share
from posewright.robots import Robot


def page_motion(document: RoboplusDocument, number: int, robot: Robot, path: Path | None = None) -> Motion:
    """Return a page that is not empty as a motion of `robot`, which remembers the document.

    The page plays for ever where it is its own next page. Next and exit pages are named by their numbers;
    a page that does not exist or is empty is none, as on the controller.
    """
    page = document.page(number)
    columns = columns_of(document, robot)
    keyframes = _keyframes(page, columns)
    lasts = any(frame.reach_s or frame.pause_s for frame in keyframes)
    loops = page.play.next == number and lasts
    return Motion(
        document.page_name(number),
        robot.name,
        columns.joints,
        keyframes,
        repeat=None if loops else page.play.repeat if lasts else 1,
        next=None if loops or page.play.next == number else _reference(document, page.play.next),
        exit=_reference(document, page.play.exit),
        speed=page.play.rate,
        source=f"RoboPlus page {number}",
        origin=Origin(ROBOPLUS_TEXT, document, number, remarks=document.remarks, path=path, robot=robot),
    )


def columns_of(document: RoboplusDocument, robot: Robot) -> Columns:
    """Return the joints of `robot` that the document moves."""
    return Columns.of(robot, document.enabled, document.motor_types)


def remarks_on(document: RoboplusDocument, robot: Robot) -> tuple[str, ...]:
    """Return what is odd about a document as one of `robot`, in words."""
    columns = columns_of(document, robot)
    strange = [i for i in range(1, IDS) if document.enabled[i] and i not in columns.ids]
    foreign = [joint for i, joint in enumerate(columns.joints) if columns.is_foreign(i)]
    remarks = []
    if strange:
        listed = ", ".join(map(str, strange))
        remarks.append(f"the file moves IDs {listed}, which are no joints of {robot.name}: left out")
    if foreign:
        listed = ", ".join(foreign)
        remarks.append(f"the file has other servos than {robot.name} at {listed}: same middle assumed")
    return tuple(remarks)


def _keyframes(page: Page, columns: Columns) -> tuple[Keyframe, ...]:
    stiffness = columns.stiffness(page.compliance)
    accel, rate = page.play.accel, page.play.rate
    return tuple(
        Keyframe(
            Pose(columns.joints, columns.angles(step.ticks)),
            step.play_s,
            step.pause_s,
            Easing.TRAPEZOID if accel else Easing.LINEAR,
            stiffness,
            robotis_accel_share(accel, step.play_s / rate),
        )
        for step in page.steps
    )


def _reference(document: RoboplusDocument, number: int) -> str | None:
    return None if document.page(number).is_empty else str(number)
