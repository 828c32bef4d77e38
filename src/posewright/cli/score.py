"""`posewright score`: computes points with the formula of a contest."""

from __future__ import annotations

from typing import Annotated

import typer

from posewright.cli.options import AsJson, add_group, add_verb, option
from posewright.display import Table


def register(app: typer.Typer) -> None:
    """Add the group and its verb."""
    group = add_group(app, "score")
    group.callback()(_keep_group)  # without a callback Typer turns a group with one verb into a command
    add_verb(group, "obstacle-race", obstacle_race, python_equivalents="score")


def _keep_group() -> None:
    pass


def obstacle_race(
    time: Annotated[
        float, option("--time S", "The leg's time in seconds, 0 to 300; 300 if the robot did not finish.")
    ],
    distance: Annotated[
        float,
        option(
            "--distance CM",
            "Distance from the start to the back of the rearmost foot in centimetres, 0 to 150.",
        ),
    ],
    penalties: Annotated[int, option("--penalties N", "How often the judge touched the robot.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Score one leg of the CEABOT obstacle race: (300-T)·7.5/300 + d/150·7.5 - (2·pen)^1.35.

    T is --time, d is --distance and pen is --penalties.

    [bold]Examples[/]
      posewright score obstacle-race --time 120 --distance 150
      posewright score obstacle-race --time 300 --distance 90 --penalties 2 --json
    """
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
        ("for", "points"),
        rows,
        title="One leg of the obstacle race",
        text_columns=frozenset({"for"}),
        total=total,
        framed=True,
    )
    arguments = {"time_s": time, "distance_cm": distance, "penalties": penalties}
    console.print_result({**points.to_dict(), **arguments}, [table], as_json=as_json)
