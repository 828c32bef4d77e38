"""A scene read, whatever program drew it, turned so that z is up, and taken apart into pieces of a field."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from enum import Enum
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from posewright.arenas import Piece
from posewright.arrays import Floats
from posewright.documents import read_bounded
from posewright.errors import FormatError, InputError, MissingExtraError, Where
from posewright.formats.scenes.mesh import MAX_MESHES, MAX_POINTS, MAX_SCENE_BYTES, Colour, SceneMesh
from posewright.formats.scenes.vrml import parse_vrml

if TYPE_CHECKING:
    from trimesh import Trimesh

_DAMAGED = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, AssertionError, MemoryError)
"""What trimesh raises for a damaged file: it reads what is there, and trusts it."""


class Up(Enum):
    """Which axis of a file points up."""

    AUTO = "auto"
    Y = "y"
    Z = "z"


_USUAL = {".wrl": Up.Y, ".obj": Up.Y, ".glb": Up.Y, ".stl": Up.Z}
SCENES = tuple(_USUAL)
"""The endings of files that are scenes."""

_Y_TO_Z = np.array([(1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)])
_CLAIMS = 10 * MAX_POINTS
"""So many points, normals, places on pictures and corners of faces a GLB may claim to hold, all together."""

_FLATTER = 1.5
"""A field is at least this much longer than high: so it is told which axis points up."""


def read_scene(path: Path | str) -> tuple[SceneMesh, ...]:
    """Return the meshes of a VRML97, OBJ, STL or GLB file, in its own unit and axes. Nothing else is opened.

    Raises:
        FormatError: it is none of these, is damaged, or too large.
        MissingExtraError: trimesh, which reads all but VRML97, is not installed.
    """
    path = Path(path)
    data = read_bounded(path, MAX_SCENE_BYTES)
    kind = path.suffix.lower()
    if kind == ".wrl":
        try:
            return parse_vrml(data.decode(), path)
        except UnicodeDecodeError as error:
            raise FormatError(
                "not text", where=Where(path, offset=error.start), hint="VRML97 is UTF-8"
            ) from error
    if kind not in _USUAL:
        raise FormatError("not a scene", where=Where(path), hint=f"it ends in {', '.join(SCENES)}")
    if kind == ".glb":
        _refuse_odd_glb(data, path)
    meshes = _by_trimesh(data, kind[1:], path)
    n_faces = sum(0 if mesh.faces is None else len(mesh.faces) for mesh in meshes)
    n_points = sum(len(mesh.points) for mesh in meshes)
    if n_points > MAX_POINTS or n_faces > 2 * MAX_POINTS or len(meshes) > MAX_MESHES:
        hint = f"at most {MAX_POINTS} points, and twice as many faces, in {MAX_MESHES} meshes"
        raise FormatError("too much in a scene", where=Where(path), hint=hint)
    return meshes


def _by_trimesh(data: bytes, kind: str, path: Path) -> tuple[SceneMesh, ...]:
    try:
        import trimesh
    except ImportError as error:
        raise MissingExtraError.for_extra(f"reading .{kind}", "meshes") from error
    # mixed types, which the stubs of trimesh know one by one
    options: Mapping[str, Any] = {"split_objects": True, "skip_materials": True} if kind == "obj" else {}
    try:
        # Without a resolver nothing beside the file is opened: neither colours of an .obj, nor pictures.
        scene = trimesh.load_scene(BytesIO(data), file_type=kind, resolver=None, process=False, **options)
        found = []
        for node in scene.graph.nodes_geometry:
            place, key = scene.graph[node]
            mesh = scene.geometry[key]
            if not isinstance(mesh, trimesh.Trimesh):
                continue  # points and lines
            matrix = np.asarray(place, dtype=np.float64)
            points = np.asarray(mesh.vertices, dtype=np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
            name, faces = node if kind != "stl" else "", np.asarray(mesh.faces)
            if len(faces) and not 0 <= int(faces.min()) <= int(faces.max()) < len(points):
                raise IndexError(f"a face names point {int(faces.max())} of {len(points)}")
            found.append(SceneMesh(name, points, faces, _colour(mesh)))
    except (*_DAMAGED, struct.error, OSError, RecursionError, NotImplementedError) as error:
        what = f"not a whole {kind.upper()} file: {type(error).__name__}: {error}"
        raise FormatError(what, where=Where(path)) from error
    if not any(len(mesh.points) for mesh in found):
        hint = "a scene of triangles or quads" + (
            "; a binary STL is as long as it says" if kind == "stl" else ""
        )
        raise FormatError("no whole face in it", where=Where(path), hint=hint)
    return tuple(mesh for mesh in found if len(mesh.points))


def _colour(mesh: Trimesh) -> Colour | None:
    from trimesh.visual import TextureVisuals
    from trimesh.visual.material import PBRMaterial

    material: object = mesh.visual.material if isinstance(mesh.visual, TextureVisuals) else None
    colour = material.baseColorFactor if isinstance(material, PBRMaterial) else None
    if colour is None:
        return None
    red, green, blue = (np.asarray(colour, dtype=np.float64)[:3] / 255.0).clip(0.0, 1.0).tolist()
    return red, green, blue


def _refuse_odd_glb(data: bytes, path: Path) -> None:
    """Refuse a GLB that claims more than it can hold, before memory is taken for that."""
    try:
        length, kind = struct.unpack_from("<I4s", data, 12)
        told = json.loads(data[20 : 20 + length]) if kind == b"JSON" else {}
        counts = [int(one["count"]) for one in told.get("accessors", ())]
        outside = [one["uri"] for part in ("buffers", "images") for one in told.get(part, ()) if "uri" in one]
    except (struct.error, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise FormatError("not a whole GLB file", where=Where(path)) from error
    if min(counts, default=0) < 0 or sum(counts) > _CLAIMS:
        hint = f"at most {MAX_POINTS} points"
        raise FormatError(f"it claims {sum(counts):,} of something", where=Where(path), hint=hint)
    if outside:
        what = f"it leads to {str(outside[0])[:80]!r}"
        raise FormatError(what, where=Where(path), hint="a GLB with everything in it")


def pieces_of(
    meshes: Sequence[SceneMesh], kind: str, *, up: Up = Up.AUTO
) -> tuple[tuple[Piece, ...], tuple[str, ...]]:
    """Return the connected parts of meshes, z up, in the unit of the file; and what was assumed, in words.

    Args:
        meshes: of a scene.
        kind: the ending of its file: where nothing else tells, it says which axis points up.
        up: which axis does.

    Raises:
        InputError: the scene has no points.
    """
    if not meshes:
        raise InputError("the scene is empty", hint="a scene with shapes in it")
    points = np.concatenate([mesh.points for mesh in meshes])
    chosen, notes = (up, []) if up is not Up.AUTO else _upwards(points, _USUAL.get(kind, Up.Z))
    turn = _Y_TO_Z if chosen is Up.Y else np.eye(3)
    parts = ((mesh, part) for mesh in meshes for part in connected_parts(mesh))
    pieces = tuple(Piece(mesh.name, part @ turn.T, mesh.colour) for mesh, part in parts)
    return pieces, tuple(notes)


def _upwards(points: Floats, usual: Up) -> tuple[Up, list[str]]:
    """Return which axis points up: the one along which the scene is clearly shorter, else the usual one."""
    _, along_y, along_z = np.ptp(points, axis=0).tolist()
    found = usual
    if along_y * _FLATTER < along_z:
        found = Up.Y
    elif along_z * _FLATTER < along_y:
        found = Up.Z
    return found, [f"{found.value} is taken to point up; --up says otherwise"]


def connected_parts(mesh: SceneMesh) -> list[Floats]:
    """Return the points of each connected part, `(n, 3)`.

    Faces are connected where just two of them share an edge: two blocks that touch at an edge are two parts.
    """
    if mesh.faces is None or not len(mesh.faces):
        return [mesh.points]
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    near = np.round(mesh.points / max(float(np.ptp(mesh.points, axis=0).max()), 1e-9), 6)
    same = np.unique(near, axis=0, return_inverse=True)[1].reshape(-1)[mesh.faces]
    edges = np.sort(same[:, [(0, 1), (1, 2), (2, 0)]].reshape(-1, 2), axis=1)
    _, edge, shared = np.unique(edges, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(edge.reshape(-1), kind="stable")
    pairs = order[np.repeat(shared == 2, shared)].reshape(-1, 2) // 3  # the two faces at each such edge
    count = len(mesh.faces)
    links = coo_matrix((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    n_parts, label = connected_components(links, directed=False)
    if n_parts > MAX_MESHES:
        what = f"{mesh.name or 'a mesh'} falls into {n_parts:,} pieces"
        raise InputError(
            what, hint=f"at most {MAX_MESHES:,}: weld its points, and leave out what lies double"
        )
    order = np.argsort(label, kind="stable")
    groups = np.split(mesh.faces[order], np.flatnonzero(np.diff(label[order])) + 1)
    return [mesh.points[np.unique(group)] for group in groups]
