"""`posewright arena`: fields that ship, fields from other programs' files, and what they look like."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from posewright import arenas, contests, figures, formats, runs
from posewright.cli import completion, console
from posewright.cli.console import print_result
from posewright.cli.options import AsJson, add_group, add_verb, argument, option, require_distinct_output
from posewright.display import Lines, Table, table
from posewright.units import DEG_PER_RAD

ArenaName = Annotated[str, argument("ARENA", "An arena of `posewright arena list`, or a *.arena.yaml file.")]


def register(app: typer.Typer) -> None:
    """Add the group and its verbs."""
    group = add_group(app, "arena")
    add_verb(group, "list", list_arenas, python_names="all_arena_names")
    add_verb(group, "show", show, python_names="find_arena")
    add_verb(group, "plot", plot, python_names="draw_arena")
    add_verb(group, "import", import_field, python_names="import_arena write_arena")
    add_verb(group, "export", export, python_names="export_arena")


def list_arenas(as_json: AsJson = False) -> None:
    """List the arenas that come with Posewright.

    [bold]Examples[/]
      posewright arena list
    """
    fields = {name: contests.find_arena(name) for name in contests.all_arena_names()}
    told = [
        {"name": name, "size_m": list(one.size_m), "shapes": len(one.shapes), "max_boxes": one.max_boxes}
        for name, one in fields.items()
    ]
    rows = [(name, *one.size_m, len(one.shapes), one.max_boxes) for name, one in fields.items()]
    print_result(told, [table(("name", "x m", "y m", "shapes", "boxes at most"), rows)], as_json=as_json)


def show(name: ArenaName, as_json: AsJson = False) -> None:
    """Show what stands on a field, and where its numbers come from.

    [bold]Examples[/]
      posewright arena show stairs
      posewright arena show my_field.arena.yaml --json
    """
    field = contests.find_arena(name)
    print_result({**field.to_dict(), "sources": dict(field.sources)}, _told(field), as_json=as_json)


def _told(field: arenas.Arena) -> Lines:
    x, y = field.size_m
    yield f"{field.name}: {x:g} x {y:g} m, friction {field.friction:g}"
    yield from (_shapes(field), *([_boxes(field)] if field.boxes else []))
    if field.spots:
        rows = [
            (name, *_numbers(one.x, one.y, one.yaw_rad * DEG_PER_RAD)) for name, one in field.spots.items()
        ]
        yield table(("spot", "x m", "y m", "yaw deg"), rows)
    if field.sources:
        yield table(("number", "comes from"), field.sources.items())


def _shapes(field: arenas.Arena) -> Table:
    rows = [
        (
            shape.name,
            shape.role.value,
            f"mesh of {len(shape.hull_m)}" if shape.hull_m else "round" if shape.is_round else "block",
            *_numbers(shape.x, shape.y, shape.base_m, *shape.size_m, shape.yaw_rad * DEG_PER_RAD),
        )
        for shape in field.shapes
    ]
    columns = ("shape", "role", "form", "x m", "y m", "base m", "long m", "wide m", "high m", "yaw deg")
    return table(columns, rows)


def _boxes(field: arenas.Arena) -> Table:
    rows = [
        (number, box.kind, *_numbers(box.x, box.y, *field.kind_of(box).size_m, box.yaw_rad * DEG_PER_RAD))
        for number, box in enumerate(field.boxes, 1)
    ]
    return table(("box", "kind", "x m", "y m", "long m", "wide m", "high m", "yaw deg"), rows)


def _numbers(*values: float) -> Iterator[str]:
    return (f"{value:.4g}" for value in values)


def import_field(
    path: Annotated[Path, argument("FILE", "A scene: a .wrl, .stl, .obj, .glb, ...; .xml is OpenRAVE's.")],
    output: Annotated[Path | None, option("--output -o FILE", "Default NAME.arena.yaml here.")] = None,
    name: Annotated[str, option("--name", "Of the arena; default that of the file.")] = "",
    up: Annotated[
        str,
        option(
            "--up AXIS",
            "Which axis of the file points up: y, z or auto.",
            autocompletion=completion.choices("auto", "y", "z"),
        ),
    ] = "auto",
    scale: Annotated[float, option("--scale M", "Metres in a unit of the file: 0.001 for mm.")] = 1.0,
    turn: Annotated[float, option("--turn DEG", "Turn it so far to the left, seen from above.")] = 0.0,
    as_json: AsJson = False,
) -> None:
    """Make an arena of a scene drawn in Blender, CAD or for OpenRAVE: walls, lines, boxes, steps, meshes.

    What a thing is, is told by its name (wall, line, box, step, ring, floor; Spanish or German, too), else by
    its size. The field begins inside the wall, or at the edge of the floor, where x is least.

    [bold]Examples[/]
      posewright arena import field.wrl
      posewright arena import field.stl --scale 0.001 --turn 90 -o mine.arena.yaml
    """
    made = formats.import_arena(path, name=name, up=up, scale=scale, turn_deg=turn)
    target = output or Path(f"{made.arena.name}.arena.yaml")
    require_distinct_output(target, path)
    arenas.write_arena(target, made.arena)
    for line in made.notes:
        console.print_note(line)
    data = {"file": str(target), "notes": list(made.notes), "arena": made.arena.to_dict()}
    print_result(data, [*_told(made.arena), f"-> {target}"], as_json=as_json)


def plot(
    name: ArenaName,
    output: Annotated[Path | None, option("--output -o FILE", "png, svg or pdf; default NAME.png.")] = None,
) -> None:
    """Draw a field from above.

    [bold]Examples[/]
      posewright arena plot sumo -o ring.svg
    """
    field = contests.find_arena(name)
    target = output or Path(f"{Path(name).name.split('.')[0]}.png")
    require_distinct_output(target, name)
    figures.save_figure(figures.draw_arena(field), target)
    console.print_line(f"-> {target}")


def export(
    name: ArenaName,
    output: Annotated[Path, argument("FILE", "Where to write it.")],
    to: Annotated[
        str,
        option("--to KIND", "mjcf or urdf.", autocompletion=completion.catalogue("posewright.runs.EXPORTS")),
    ] = "mjcf",
) -> None:
    """Write a field as a MuJoCo model, or as a URDF, for other programs.

    [bold]Examples[/]
      posewright arena export stairs stairs.xml
      posewright arena export ceabot_obstacles field.urdf --to urdf
    """
    require_distinct_output(output, name)
    runs.export_arena(name, output, to=to)
    console.print_line(f"-> {output}")
