"""`posewright arena`: list, show, draw, import and export arenas."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from posewright import arenas, contests, figures, formats, runs
from posewright.cli import completion, console
from posewright.cli.console import print_result
from posewright.cli.options import (
    YAML_ENDINGS,
    AsJson,
    add_group,
    add_verb,
    argument,
    option,
    require_distinct_output,
    require_output_file,
)
from posewright.cli.studio import Browser, Host, Port, address_file, serve_until_stopped
from posewright.display import Lines, Table, table
from posewright.units import DEG_PER_RAD

ArenaName = Annotated[str, argument("ARENA", "An arena of `posewright arena list`, or a *.arena.yaml file.")]


def register(app: typer.Typer) -> None:
    """Add the command `arena` and its verbs."""
    group = add_group(app, "arena")
    add_verb(group, "list", list_arenas, python_equivalents="all_arena_names")
    add_verb(group, "show", show, python_equivalents="find_arena")
    add_verb(group, "edit", edit, python_equivalents="open_arena_editor")
    add_verb(group, "plot", plot, python_equivalents="draw_arena")
    add_verb(group, "import", import_field, python_equivalents="import_arena write_arena")
    add_verb(group, "export", export, python_equivalents="export_arena")


def list_arenas(as_json: AsJson = False) -> None:
    """List the arenas that come with Posewright.

    [bold]Examples[/]
      posewright arena list
    """
    data = []
    rows = []
    for name in contests.all_arena_names():
        arena = contests.find_arena(name)
        n_shapes = len(arena.shapes)
        data.append(
            {"name": name, "size_m": list(arena.size_m), "shapes": n_shapes, "max_boxes": arena.max_boxes}
        )
        rows.append((name, *arena.size_m, n_shapes, arena.max_boxes))
    print_result(data, [table(("name", "x m", "y m", "shapes", "max boxes"), rows)], as_json=as_json)


def show(name: ArenaName, as_json: AsJson = False) -> None:
    """Show the shapes on a field, and the sources of its dimensions.

    [bold]Examples[/]
      posewright arena show stairs
      posewright arena show my_field.arena.yaml --json
    """
    arena = contests.find_arena(name)
    print_result({**arena.to_dict(), "sources": dict(arena.sources)}, _arena_lines(arena), as_json=as_json)


def edit(
    name: Annotated[
        str | None,
        argument("FILE", "An arena or layout file, or the name of one that ships. Default: a new field."),
    ] = None,
    host: Host = "127.0.0.1",
    port: Port = 0,
    browser: Browser = True,
    as_json: AsJson = False,
) -> None:
    """Draw a field in the browser by a contest's rules, save it as an arena or a layout, and race on it.

    An arena that ships is saved to a new file in the current folder. Press Ctrl-C to end.

    [bold]Examples[/]
      posewright arena edit
      posewright arena edit ceabot_obstacles
      posewright arena edit club.arena.yaml --no-browser
    """
    from posewright.studio.studio import open_arena_editor

    with console.spinner("arena editor: starting", quiet=as_json):
        studio = open_arena_editor(name, host=host, port=port, address_file=address_file())
    serve_until_stopped(studio, "the arena editor", open_browser=browser, as_json=as_json)


def _arena_lines(arena: arenas.Arena) -> Lines:
    """Yield the size of an arena, and tables of its shapes, boxes, spots and sources."""
    x, y = arena.size_m
    yield f"{arena.name}: {x:g} x {y:g} m, friction {arena.friction:g}"
    yield _shape_table(arena)
    if arena.boxes:
        yield _box_table(arena)
    if arena.spots:
        rows = [
            (name, *_format_numbers(spot.x, spot.y, spot.yaw_rad * DEG_PER_RAD))
            for name, spot in arena.spots.items()
        ]
        yield table(("spot", "x m", "y m", "yaw deg"), rows)
    if arena.sources:
        yield table(("value", "source"), arena.sources.items())


def _shape_table(arena: arenas.Arena) -> Table:
    """Return a table of the fixed shapes of an arena, one per row."""
    rows = []
    for shape in arena.shapes:
        numbers = _format_numbers(shape.x, shape.y, shape.base_m, *shape.size_m, shape.yaw_rad * DEG_PER_RAD)
        rows.append((shape.name, shape.role.value, _format_form(shape), *numbers))
    columns = ("shape", "role", "form", "x m", "y m", "base m", "long m", "wide m", "high m", "yaw deg")
    return table(columns, rows)


def _format_form(shape: arenas.Shape) -> str:
    if shape.hull_m:
        return f"mesh of {len(shape.hull_m)}"
    return "round" if shape.is_round else "block"


def _box_table(arena: arenas.Arena) -> Table:
    """Return a table of the movable boxes of an arena, one per row."""
    rows = []
    for number, box in enumerate(arena.boxes, 1):
        size_m = arena.kind_of(box).size_m
        rows.append((number, box.kind, *_format_numbers(box.x, box.y, *size_m, box.yaw_rad * DEG_PER_RAD)))
    return table(("box", "kind", "x m", "y m", "long m", "wide m", "high m", "yaw deg"), rows)


def _format_numbers(*values: float) -> Iterator[str]:
    return (f"{value:.4g}" for value in values)


def import_field(
    path: Annotated[
        Path,
        argument(
            "FILE",
            "A scene: .wrl, .stl, .obj, .glb, ..., or of OpenRAVE, OpenHRP3 (.xml) or Choreonoid (.cnoid).",
        ),
    ],
    output: Annotated[
        Path | None,
        option("--output -o FILE", "The arena to write; default NAME.arena.yaml in the current folder."),
    ] = None,
    name: Annotated[str, option("--name NAME", "Name of the arena; default the name of the file.")] = "",
    up: Annotated[
        str,
        option(
            "--up AXIS",
            "The axis of the file that points up: y, z or auto.",
            autocompletion=completion.choices("auto", "y", "z"),
        ),
    ] = "auto",
    scale: Annotated[float, option("--scale M", "Metres per unit of the file: 0.001 for mm.")] = 1.0,
    turn: Annotated[float, option("--turn DEG", "Turn the scene counter-clockwise, seen from above.")] = 0.0,
    as_json: AsJson = False,
) -> None:
    """Convert a scene from Blender, CAD or a simulator to an arena: walls, lines, boxes, steps, meshes.

    The name of an object determines its role (wall, line, box, step, ring, floor; also in Spanish or German).
    If the name has none of these words, its size does. The origin of the arena is at the side with the
    smallest x: at the inside of the wall, or at the edge of the floor.

    [bold]Examples[/]
      posewright arena import field.wrl
      posewright arena import field.stl --scale 0.001 --turn 90 -o mine.arena.yaml
    """
    require_output_file(output, "an arena", YAML_ENDINGS, path)
    imported = formats.import_arena(path, name=name, up=up, scale=scale, turn_deg=turn)
    target = output or Path(f"{imported.arena.name}.arena.yaml")
    require_distinct_output(target, path)
    arenas.write_arena(target, imported.arena)
    for line in imported.notes:
        console.print_note(line)
    data = {"file": str(target), "notes": list(imported.notes), "arena": imported.arena.to_dict()}
    print_result(data, [*_arena_lines(imported.arena), f"-> {target}"], as_json=as_json)


def plot(
    name: ArenaName,
    output: Annotated[Path | None, option("--output -o FILE", "png, svg or pdf; default NAME.png.")] = None,
) -> None:
    """Draw a field from above.

    [bold]Examples[/]
      posewright arena plot sumo -o ring.svg
    """
    target = output or Path(f"{Path(name).name.split('.')[0]}.png")
    require_output_file(target, "a picture", figures.PICTURES, name)
    arena = contests.find_arena(name)
    figures.save_figure(figures.draw_arena(arena), target)
    console.print_line(f"-> {target}")


def export(
    name: ArenaName,
    output: Annotated[Path, argument("FILE", "The file to write.")],
    to: Annotated[
        str,
        option(
            "--to FORMAT", "mjcf or urdf.", autocompletion=completion.catalogue("posewright.runs.EXPORTS")
        ),
    ] = "mjcf",
) -> None:
    """Export a field as a MuJoCo model (MJCF) or a URDF.

    [bold]Examples[/]
      posewright arena export stairs stairs.xml
      posewright arena export ceabot_obstacles field.urdf --to urdf
    """
    endings = (".urdf", ".xml") if to == "urdf" else (".xml", ".mjcf")
    require_output_file(output, "a model", endings, name)
    runs.export_arena(name, output, to=to)
    console.print_line(f"-> {output}")
