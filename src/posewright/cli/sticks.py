"""`posewright sticks`: what motions an AIBO's memory stick holds, as a list and as a contact sheet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from posewright import figures, motions
from posewright.cli.console import counted, give, warn
from posewright.cli.options import FOUND, AsJson, add_group, argument, option
from posewright.runtimes.openr import stick as sticks

Picture = Annotated[
    Path | None,
    option(
        "--output -o PICTURE", "Draw them (.png, .svg, .pdf): sheet.png, and sheet-2.png, ... if need be."
    ),
]


def register(app: typer.Typer) -> None:
    """Add the group `sticks` to the application."""
    add_group(app, "sticks", "See what motions an AIBO's memory stick holds.", {"show": show})


def show(
    paths: Annotated[
        list[Path],
        argument("PATH...", "A memory stick, its OPEN-R folder, or archives; content tells which."),
    ],
    output: Picture = None,
    as_json: AsJson = False,
) -> None:
    """Show the motions of a memory stick: name, length, from where to where, and which id plays it.

    It exits with 1 where a file of the stick could not be read.

    The picture shows each of them where it begins, where it is furthest from its ends, and where it ends.

    [bold]Examples[/]
      posewright sticks show /media/AIBO
      posewright sticks show /media/AIBO -o sheet.png
      posewright sticks show MOTION7.ODA MONETCMD.CFG -o sheet.pdf
    """
    stick = sticks.read_stick(*paths)
    unread = [one for one in stick.findings if one.level is motions.Level.ERROR]
    for finding in unread:
        warn(f"{finding.path}: {finding.message}")
    held, written = sticks.motions_on(stick), list[Path]()
    if output is not None:
        pages = range(2, figures.stick_pages(stick) + 1)
        written = [output, *(output.with_stem(f"{output.stem}-{page}") for page in pages)]
    for path in written:
        figures.refuse_unsavable(path)
    for page, path in enumerate(written, 1):
        figures.save_figure(figures.draw_stick(stick, page=page), path)
    told = [one.data() for one in held]
    data = {"motions": told, "pictures": [str(path) for path in written]}
    lines = [*_lines(told), *(f"{counted(len(held), 'motion')} -> {path}" for path in written)]
    give(data, lines, as_json=as_json)
    if unread:
        raise typer.Exit(FOUND)


def _lines(held: list[dict[str, Any]]) -> Iterator[str]:
    width = max((len(one["name"]) for one in held), default=0)
    for one in held:
        length = "damaged" if one["duration_s"] is None else f"{one['duration_s']:.2f} s"
        asked = f"id {', '.join(map(str, one['ids']))}" if one["ids"] else "no command"
        more = one["fault"] or ", ".join(filter(None, [asked, one["postures"]]))
        yield f"{one['name']:<{width}}  {length:>8}  {more}"
    yield counted(len(held), "motion")
