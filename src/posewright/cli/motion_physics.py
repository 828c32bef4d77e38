"""What `posewright motion check --physics` says besides, as data for programs and as lines for people."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from posewright.cli.options import record_paths, refuse_recording

if TYPE_CHECKING:
    from pathlib import Path

    from posewright.evaluation import MotionResult
    from posewright.formats import MotionFile

Physics = Annotated[
    bool,
    typer.Option(
        "--physics", help="Play it under gravity: falls, tilt, self-contact, slip, lag, weak servos."
    ),
]
PutDown = Annotated[
    tuple[float, float] | None,
    typer.Option(
        "--attitude",
        metavar="ROLL PITCH",
        help="How the base is turned when the robot is put down, in degrees: 0 90 on its face, 0 -90 on its "
        "back; default as the file says, else standing.",
    ),
]
Friction = Annotated[
    float | None,
    typer.Option(
        "--friction", metavar="MU", help="Of the floor: 0.2 polished, 1 carpet; default the model's."
    ),
]

WORST = 3
"""So many joints are named of those that lag or give all their torque."""


def radians(attitude_deg: tuple[float, float] | None) -> tuple[float, float] | None:
    """Return an attitude in radians."""
    return None if attitude_deg is None else (math.radians(attitude_deg[0]), math.radians(attitude_deg[1]))


def with_physics(
    report: Mapping[str, Any],
    file: MotionFile,
    page: str | None,
    *,
    attitude_deg: tuple[float, float] | None = None,
    friction: float | None = None,
    record: Path | None = None,
    on_progress: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Return a report of the design rules with what physics finds in the same pages.

    `physics` holds the numbers, one entry a page; the findings join the others and are counted with them.

    Args:
        report: what the design rules found.
        file: with the motions.
        page: of one page only; None for all.
        attitude_deg: roll and pitch the robot is put down with [deg].
        friction: of the floor.
        record: where to write the recording; of several pages each gets a name of its own.
        on_progress: is told the name of the motion that is played.
    """
    from posewright.experiments import try_motion
    from posewright.recordings import write_mcap

    wanted = None if page is None else file.page_number(page)
    pages = [
        (label.number, motion)
        for label, motion in zip(file.pages, file.motions, strict=True)
        if wanted in (None, label.number)
    ]
    paths = [] if record is None else record_paths(record, [str(number) for number, _ in pages])
    for path in paths:
        refuse_recording(path, file.path)
    played = []
    for place, (number, motion) in enumerate(pages):
        if on_progress is not None:
            on_progress(motion.name)
        result = try_motion(motion, attitude=radians(attitude_deg), friction=friction)
        if paths:
            write_mcap(result.recording, paths[place])
        played.append({"page": number, **result.figures()})
    found = [
        {"page": told["page"], "motion": told["motion"], **finding}
        for told in played
        for finding in told.pop("findings")
    ]
    levels = [finding["level"] for finding in found]
    return {
        **report,
        "errors": report["errors"] + levels.count("error"),
        "warnings": report["warnings"] + levels.count("warning"),
        "findings": [*report["findings"], *found],
        "physics": played,
    }


def findings_lines(result: MotionResult) -> Iterator[str]:
    """Yield what was found, a line each."""
    for finding in result.findings:
        yield f"{finding.level.value:<7} {finding.rule:<8} {finding.message}"


def physics_lines(told: Mapping[str, Any]) -> Iterator[str]:
    """Yield the numbers of one motion, a line each.

    Args:
        told: an entry of `physics`.
    """
    yield f"{told['motion']} under gravity, {told['played_s']:.2f} s:"
    yield f"  falls         {_falls(told['falls'])}"
    way = told["travel"]
    yield (
        f"  way           {way['distance_m']:.3f} m at {way['speed_m_s']:.3f} m/s: {way['forward_m']:+.3f} m "
        f"forward, {way['left_m']:+.3f} m left, turned {way['turn_deg']:+.0f} deg"
    )
    tilt = told["max_tilt"]
    yield (
        f"  tilt          {told['first_tilt_deg']:.0f} deg at first, at most {told['max_tilt_deg']:.0f} "
        f"{tilt['side']} at {tilt['time_s']:.2f} s, {told['last_tilt_deg']:.0f} at last"
    )
    yield f"  self-contact  {_contacts(told['self_contacts'])}"
    yield f"  slip          {', '.join(_slip(*slip) for slip in told['slip_mm'].items())}"
    late = sorted(told["lag_deg"].items(), key=lambda lag: -lag[1]["max"])
    lags = [f"{joint} {lag['max']:.0f} deg (rms {lag['rms']:.0f})" for joint, lag in late[:WORST]]
    yield f"  lag           {', '.join(lags)}"
    weak = sorted(told["saturated"], key=lambda stretch: -stretch["longest_s"])
    most = [f"{one['joint']} {one['longest_s']:.2f} s ({one['share']:.0%})" for one in weak[:WORST]]
    yield f"  full torque   {', '.join(most) or 'never'}"


def _falls(falls: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(f"{fall['side']} at {fall['time_s']:.2f} s" for fall in falls) or "none"


def _contacts(contacts: Sequence[Mapping[str, Any]]) -> str:
    told = [
        f"{' and '.join(one['parts'])} at {one['time_s']:.2f} s ({one['force_n']:.0f} N)" for one in contacts
    ]
    return ", ".join(told) or "none"


def _slip(foot: str, way: Mapping[str, float]) -> str:
    return f"{foot} {way['longest']:.0f} mm"


def physics_table(played: Sequence[Mapping[str, Any]]) -> Table:
    """Return one row a motion: what is worth comparing."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("page", "name", "played s", "way m", "falls", "tilt deg", "touches", "slip mm", "lag deg"):
        table.add_column(column, justify="left" if column == "name" else "right")
    for told in played:
        cells = (
            told["page"],
            told["motion"],
            f"{told['played_s']:.2f}",
            f"{told['travel']['distance_m']:.2f}",
            len(told["falls"]) or "",
            f"{told['max_tilt_deg']:.0f}",
            len(told["self_contacts"]) or "",
            f"{max((way['longest'] for way in told['slip_mm'].values()), default=0.0):.0f}",
            f"{max((lag['max'] for lag in told['lag_deg'].values()), default=0.0):.0f}",
        )
        table.add_row(*(Text(str(cell)) for cell in cells))
    return table
