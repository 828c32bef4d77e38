"""Scenes as drawing programs write them, made up: a unit cube for everything, placed by transforms."""

from __future__ import annotations

HEAD = "#VRML V2.0 utf8\n#modeled using blender3d http://blender.org\n"
CORNERS = [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
FACES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
POINTS = ", ".join(" ".join(map(str, corner)) for corner in CORNERS)
INDEX = ", ".join(" ".join(map(str, face)) + " -1" for face in FACES)

Things = dict[str, tuple[tuple[float, float, float], tuple[float, float, float], float]]
"""Middle [m], edges [m] and yaw [rad] by name."""

FIELD: Things = {
    "Suelo": ((1.25, 0, -0.05), (2.5, 2, 0.1), 0),
    "Cube": ((-0.01, 0, 0.25), (0.02, 2, 0.5), 0),
    "Cube_001": ((2.51, 0, 0.25), (0.02, 2, 0.5), 0),
    "Cube_002": ((1.25, 1.01, 0.25), (2.54, 0.02, 0.5), 0),
    "Cube_003": ((1.25, -1.01, 0.25), (2.54, 0.02, 0.5), 0),
    "Linea_2": ((2, 0, 0.0005), (0.02, 2, 0.001), 0),
    "Linea_1": ((0.5, 0, 0.0005), (0.02, 2, 0.001), 0),
    "Box_1": ((1, 0.4, 0.25), (0.2, 0.2, 0.5), 0),
    "Cube_004": ((1.5, -0.35, 0.25), (0.2, 0.2, 0.5), 0.6),
}


def cube(name: str, middle: tuple[float, ...], edges: tuple[float, ...], yaw: float, *, y_up: bool) -> str:
    x, y, z = middle
    length, width, height = (edge / 2 for edge in edges)
    at, size, axis = (x, y, z), (length, width, height), "0 0 1"
    if y_up:
        at, size, axis = (x, z, -y), (length, height, width), "0 1 0"
    return (
        f"DEF OB_{name} Transform {{\n  translation {' '.join(map(str, at))}\n  rotation {axis} {yaw}\n"
        f"  scale {' '.join(map(str, size))}\n  children [ DEF ME_{name} Group {{ children [ Shape {{\n"
        "    appearance Appearance { material Material { diffuseColor 0.8 0.7 0.5 } }\n"
        f"    geometry IndexedFaceSet {{ coord Coordinate {{ point [ {POINTS} ] }}\n"
        f"      coordIndex [ {INDEX} ] }}\n"
        "  } ] } ]\n}\n"
    )


def wrl(things: Things = FIELD, *, y_up: bool = True) -> str:
    seen = 'DEF Camera Viewpoint { description "Camera" position 0 0 10 }\n'
    seen += 'NavigationInfo { type [ "WALK" "ANY" ] }\n'
    return HEAD + seen + "".join(cube(name, *thing, y_up=y_up) for name, thing in things.items())
