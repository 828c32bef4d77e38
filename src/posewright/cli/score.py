"""`posewright score`: the points of one leg, by a contest's own formula."""

from __future__ import annotations

from typing import Annotated

import typer

from posewright.cli.options import AsJson, add_group, add_verb, option
from posewright.display import Table


def register(app: typer.Typer) -> None:
    """Add the group and its verb."""
    group = add_group(app, "score")
    group.callback()(_as_group)  # or Typer makes one command of a group with one verb
    add_verb(group, "obstacle-race", obstacle_race, python_names="score")


def _as_group() -> None:
    pass


def obstacle_race(
    time: Annotated[float, option("--time", "The leg's time in seconds, 0..300; 300 if unfinished.")],
    distance: Annotated[
        float, option("--distance", "To the back of the rearmost foot in centimetres, 0..150.")
    ],
    penalties: Annotated[int, option("--penalties", "How often the judge touched the robot.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Score one leg of the CEABOT obstacle race: (300-T)·7.5/300 + d/150·7.5 - (2·pen)^1.35."""
    from posewright.cli import console
    from posewright.contests import rules, score

    points = score(time, distance, penalties)
    limits = rules().scoring
    time_left = f"time left, {limits.time_limit_s - time:g} s of {limits.time_limit_s:g} s"
    reached = f"distance, {distance:g} cm of {limits.distance_limit_cm:g} cm"
    rows = (
        (time_left, f"{points.time_points:+.3f}"),
        (reached, f"{points.distance_points:+.3f}"),
        (f"penalties, {penalties}", f"{-points.penalty_points:+.3f}"),
        ("the formula's value, which decides places", f"{points.raw_points:+.3f}"),
    )
    total = ("counts in the total", f"{points.points:.3f}")
    table = Table(
        ("for", "points"), rows, "One leg of the obstacle race", frozenset({"for"}), total, framed=True
    )
    given = {"time_s": time, "distance_cm": distance, "penalties": penalties}
    console.print_result({**points.to_dict(), **given}, [table], as_json=as_json)
