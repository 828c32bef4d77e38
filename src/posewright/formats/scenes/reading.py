"""Reading scene files, turned so that z is up, and split into pieces of an arena."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from dataclasses import replace
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from posewright.arenas import Piece
from posewright.arenas.hulls import MIN_THICKNESS_M, thickness
from posewright.arrays import Floats
from posewright.documents import read_bounded
from posewright.documents.markup import MarkupRules, parse_markup
from posewright.errors import FormatError, InputError, MissingExtraError, Where
from posewright.formats.scenes.mesh import (
    MAX_COORDINATE,
    MAX_MESHES,
    MAX_POINTS,
    MAX_SCENE_BYTES,
    Colour,
    Omissions,
    Scene,
    SceneMesh,
    Up,
)
from posewright.formats.scenes.vrml import parse_vrml

if TYPE_CHECKING:
    from trimesh import Trimesh

_DEFAULT_UP = {".wrl": Up.Y, ".obj": Up.Y, ".glb": Up.Y, ".stl": Up.Z, ".dae": Up.Y, ".zae": Up.Y}
SCENE_SUFFIXES = tuple(_DEFAULT_UP)
"""Suffixes of the scene files that are read; `.wrl` is VRML."""

_COLLADA_RULES = MarkupRules(max_bytes=MAX_SCENE_BYTES)

Y_TO_Z = np.array([(1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)])
"""The rotation of a scene with y up into one with z up."""

_MAX_GLB_COUNT = 10 * MAX_POINTS
"""Most points, normals, texture coordinates and face corners of a GLB, all together."""

_MIN_FLATNESS = 1.5
"""An arena is at least this much longer than high; this shows which axis points up."""


def read_scene(path: Path | str) -> Scene:
    """Return the meshes of a VRML97, OBJ, STL, GLB or COLLADA file in the file's axes, and what was left out.

    Lengths are in the unit of the file, those of COLLADA in metres. No other file is opened, except files of
    the same folder that VRML inlines.

    Raises:
        FormatError: it is of another kind, damaged, or too large.
        MissingExtraError: a library that reads the file, trimesh or pycollada, is not installed.
    """
    path = Path(path)
    data = read_bounded(path, MAX_SCENE_BYTES)
    kind = path.suffix.lower()
    if kind == ".wrl":
        return parse_vrml(data.decode(errors="replace"), path)  # comments may be in another encoding
    if kind not in SCENE_SUFFIXES:
        raise FormatError(
            "not a scene", where=Where(path), hint=f"scene files end in {', '.join(SCENE_SUFFIXES)}"
        )
    if kind == ".glb":
        _require_readable_glb(data, path)
    scene = (
        _read_collada(data, path) if kind in (".dae", ".zae") else _read_with_trimesh(data, kind[1:], path)
    )
    _require_reasonable_size(scene, path)
    return scene


def _require_reasonable_size(scene: Scene, path: Path) -> None:
    """Raise a FormatError for too many points, faces or meshes, and for points too far away or not finite."""
    n_faces = sum(0 if mesh.faces is None else len(mesh.faces) for mesh in scene.meshes)
    n_points = sum(len(mesh.points) for mesh in scene.meshes)
    if n_points > MAX_POINTS or n_faces > 2 * MAX_POINTS or len(scene.meshes) > MAX_MESHES:
        hint = f"at most {MAX_POINTS} points, twice as many faces, and {MAX_MESHES} meshes are read"
        raise FormatError("the scene is too large", where=Where(path), hint=hint)
    for mesh in scene.meshes:
        if not (np.abs(mesh.points) <= MAX_COORDINATE).all():  # also false for NaN
            message = f"{mesh.name or 'a mesh'} has a point that is too far away or no number"
            raise FormatError(message, where=Where(path), hint=f"coordinates are at most {MAX_COORDINATE:g}")


def _read_collada(data: bytes, path: Path) -> Scene:
    """Return the meshes of a COLLADA document, or of the one in a `.zae`, in metres and its axes.

    Raises:
        FormatError: it is damaged, or has a document type.
        MissingExtraError: trimesh, or the library by which it reads COLLADA, is not installed.
    """
    if find_spec("collada") is None:  # by which trimesh reads it
        raise MissingExtraError.for_extra("reading COLLADA (.dae)", "meshes")
    if data.startswith(b"PK"):
        data = _unzip_collada(data, path)
    root = parse_markup(data, path, _COLLADA_RULES)  # an error before pycollada expands entities
    scene = _read_with_trimesh(data, "dae", path)
    asset = root.first("asset")
    unit = None if asset is None else asset.first("unit")
    unit_m = 1.0 if unit is None else unit.attribute_number("meter", 1.0)
    if unit is not None and not 1e-6 <= unit_m <= 1e4:
        unit.fail("its unit is no length", hint='write <unit meter="1"/>')
    meshes = tuple(replace(mesh, points=mesh.points * unit_m) for mesh in scene.meshes)
    up_axis = None if asset is None else asset.first("up_axis")
    up = {"Y_UP": Up.Y, "Z_UP": Up.Z}.get(up_axis.text if up_axis is not None else "", Up.AUTO)
    return replace(scene, meshes=meshes, up=up)


def _unzip_collada(data: bytes, path: Path) -> bytes:
    """Return the first COLLADA document in an archive."""
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            names = [name for name in archive.namelist() if name.lower().endswith(".dae")]
            if not names:
                raise FormatError("the archive has no .dae", where=Where(path))
            with archive.open(names[0]) as file:
                document = file.read(MAX_SCENE_BYTES + 1)
    except EOFError as error:
        raise FormatError("damaged archive: its document is cut off", where=Where(path)) from error
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError, RuntimeError, NotImplementedError) as error:
        raise FormatError(f"damaged archive: {error}", where=Where(path)) from error
    if len(document) > MAX_SCENE_BYTES:
        raise FormatError(f"its document is larger than {MAX_SCENE_BYTES:,} bytes", where=Where(path))
    return document


def _read_with_trimesh(data: bytes, kind: str, path: Path) -> Scene:
    """Return the meshes of a file, placed in the frame of the scene; other files are not opened.

    Args:
        data: the bytes of the file.
        kind: its suffix without the dot.
        path: the file, for messages.

    Raises:
        FormatError: it is damaged, or has no face.
        MissingExtraError: trimesh is not installed.
    """
    try:
        import trimesh
    except ImportError as error:
        raise MissingExtraError.for_extra(f"reading .{kind}", "meshes") from error
    try:
        # without a resolver, trimesh opens no other files, such as materials of an .obj or pictures
        if kind == "obj":
            scene = trimesh.load_scene(
                BytesIO(data),
                file_type=kind,
                resolver=None,
                process=False,
                split_objects=True,
                skip_materials=True,
            )
        else:
            scene = trimesh.load_scene(BytesIO(data), file_type=kind, resolver=None, process=False)
        meshes: list[SceneMesh] = []
        n_without_faces = 0
        for node in scene.graph.nodes_geometry:
            transform, key = scene.graph[node]
            mesh = scene.geometry[key]
            if not isinstance(mesh, trimesh.Trimesh):
                n_without_faces += 1  # points and lines
                continue
            matrix = np.asarray(transform, dtype=np.float64)
            with np.errstate(over="ignore", invalid="ignore"):  # `read_scene` checks the result
                points = np.asarray(mesh.vertices, dtype=np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
            name = "" if kind == "stl" else node
            faces = np.asarray(mesh.faces)
            if len(faces) and not 0 <= int(faces.min()) <= int(faces.max()) < len(points):
                raise IndexError(f"a face names point {int(faces.max())} of {len(points)}")
            meshes.append(SceneMesh(name, points, faces, colour=_read_colour(mesh)))
    except Exception as error:  # trimesh and pycollada do not check files: damaged ones raise anything
        message = f"damaged {kind.upper()} file: {type(error).__name__}: {error}"
        raise FormatError(message, where=Where(path)) from error
    if not any(len(mesh.points) for mesh in meshes):
        hint = "export a scene of triangles or quads"
        if kind == "stl":
            hint += "; the length of a binary STL must match its number of triangles"
        raise FormatError("the scene has no complete face", where=Where(path), hint=hint)
    notes = (f"{n_without_faces} objects of points or lines have no faces",) if n_without_faces else ()
    return Scene(tuple(mesh for mesh in meshes if len(mesh.points)), notes)


def _read_colour(mesh: Trimesh) -> Colour | None:
    """Return the colour of a mesh, red green blue, 0..1; None if it has none."""
    from trimesh.visual import TextureVisuals
    from trimesh.visual.material import PBRMaterial

    material: object = mesh.visual.material if isinstance(mesh.visual, TextureVisuals) else None
    colour = material.baseColorFactor if isinstance(material, PBRMaterial) else None
    if colour is None:
        return None
    red, green, blue = (np.asarray(colour, dtype=np.float64)[:3] / 255.0).clip(0.0, 1.0).tolist()
    return red, green, blue


_GLB_HEAD_BYTES = 12
_GLB_CHUNK_HEAD = struct.Struct("<I4s")
"""A GLB file (glTF 2.0) has a head and then chunks; a chunk begins with its length and kind."""


def _require_readable_glb(data: bytes, path: Path) -> None:
    """Raise FormatError for a GLB with impossible counts or other files, before trimesh allocates memory."""
    try:
        length, kind = _GLB_CHUNK_HEAD.unpack_from(data, _GLB_HEAD_BYTES)
        begin = _GLB_HEAD_BYTES + _GLB_CHUNK_HEAD.size
        header = json.loads(data[begin : begin + length]) if kind == b"JSON" else {}
        counts = [int(accessor["count"]) for accessor in header.get("accessors", ())]
        entries = [*header.get("buffers", ()), *header.get("images", ())]
        other_files = [entry["uri"] for entry in entries if "uri" in entry]
    except (
        struct.error,
        ValueError,
        OverflowError,
        LookupError,
        TypeError,
        AttributeError,
        RecursionError,
    ) as error:
        raise FormatError("damaged GLB file", where=Where(path)) from error
    if min(counts, default=0) < 0 or sum(counts) > _MAX_GLB_COUNT:
        hint = f"at most {MAX_POINTS} points are read"
        raise FormatError(f"its header counts {sum(counts):,} elements", where=Where(path), hint=hint)
    if other_files:
        message = f"it refers to another file, {str(other_files[0])[:80]!r}"
        raise FormatError(message, where=Where(path), hint="export a GLB with everything in it")


def pieces_of(scene: Scene, kind: str, *, up: Up = Up.AUTO) -> tuple[tuple[Piece, ...], tuple[str, ...]]:
    """Return the connected parts of a scene's meshes, z up, in its unit, and notes on what was assumed.

    Args:
        scene: the scene.
        kind: the suffix of its file, which gives the upward axis of a scene that is not flat.
        up: the axis that points up.

    Raises:
        InputError: the scene has no points.
    """
    if not scene.meshes:
        hint = "; ".join(scene.notes)[:500] or "export a scene with shapes in it"
        raise InputError("the scene is empty", hint=hint)
    notes = [*scene.notes]
    if up is Up.AUTO:
        up = scene.up
    if up is Up.AUTO:
        points = np.concatenate([mesh.points for mesh in scene.meshes])
        up = _guess_up(points, _DEFAULT_UP.get(kind, Up.Z))
        notes.append(f"{up.value} is assumed to point up; change it with --up")
    rotation = Y_TO_Z if up is Up.Y else np.eye(3)
    pieces: list[Piece] = []
    omissions = Omissions()
    for mesh in scene.meshes:
        for part in connected_parts(mesh, omissions):
            pieces.append(Piece(mesh.name, part @ rotation.T, mesh.colour, group_names=mesh.group_names))
    return tuple(pieces), (*notes, *omissions.notes())


def _guess_up(points: Floats, default: Up) -> Up:
    """Return the axis along which the scene is clearly shorter, or the default."""
    _, size_y, size_z = np.ptp(points, axis=0).tolist()
    if size_y * _MIN_FLATNESS < size_z:
        return Up.Y
    if size_z * _MIN_FLATNESS < size_y:
        return Up.Z
    return default


def connected_parts(mesh: SceneMesh, omissions: Omissions) -> list[Floats]:
    """Return the points of each connected part, `(n, 3)`.

    Faces are connected by an edge that exactly two of them share: two blocks that touch at an edge are two
    parts.

    Args:
        mesh: the mesh.
        omissions: the omissions to which the sides are added that a part lacks, such as a tray without a lid:
            a part of a field is solid.

    Raises:
        InputError: there are too many parts.
    """
    if mesh.faces is None or not len(mesh.faces):
        return [mesh.points]
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    # give points that are equal up to rounding errors one number
    largest_size = max(float(np.ptp(mesh.points, axis=0).max()), 1e-9)
    rounded_points = np.round(mesh.points / largest_size, 6)
    _, point_numbers = np.unique(rounded_points, axis=0, return_inverse=True)
    faces = point_numbers.reshape(-1)[mesh.faces]
    # find the pairs of faces that share an edge: three edges per face, each with its lower point first
    edges = np.sort(faces[:, [(0, 1), (1, 2), (2, 0)]].reshape(-1, 2), axis=1)
    _, edge_numbers, n_faces_at_edge = np.unique(edges, axis=0, return_inverse=True, return_counts=True)
    edges_in_order = np.argsort(edge_numbers.reshape(-1), kind="stable")
    is_shared_by_two = np.repeat(n_faces_at_edge == 2, n_faces_at_edge)
    face_pairs = edges_in_order[is_shared_by_two].reshape(-1, 2) // 3
    # connect them
    n_faces = len(mesh.faces)
    weights = np.ones(len(face_pairs))
    graph = coo_matrix((weights, (face_pairs[:, 0], face_pairs[:, 1])), shape=(n_faces, n_faces))
    n_parts, part_of_face = connected_components(graph, directed=False)
    if n_parts > MAX_MESHES:
        message = f"{mesh.name or 'a mesh'} has {n_parts:,} unconnected parts"
        hint = f"at most {MAX_MESHES:,} are read: merge its points and delete duplicate faces"
        raise InputError(message, hint=hint)
    faces_in_order = np.argsort(part_of_face, kind="stable")
    part_starts = np.flatnonzero(np.diff(part_of_face[faces_in_order])) + 1
    faces_of_parts = np.split(mesh.faces[faces_in_order], part_starts)
    parts = [mesh.points[np.unique(part_faces)] for part_faces in faces_of_parts]
    is_at_rim = np.isin(edge_numbers.reshape(-1, 3), np.flatnonzero(n_faces_at_edge == 1)).any(axis=1)
    for part_number in np.unique(part_of_face[is_at_rim]).tolist():
        if thickness(parts[part_number]) > MIN_THICKNESS_M:
            message = f"{mesh.name or 'a mesh'} lacks a side or has holes: it is solid here"
            omissions.add(message, None)
    return parts
