"""Scene files (VRML97, OBJ, STL, GLB and COLLADA): meshes with names and colours, and pieces of an arena."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.formats.scenes.mesh import MAX_SCENE_BYTES as MAX_SCENE_BYTES
    from posewright.formats.scenes.mesh import Omissions as Omissions
    from posewright.formats.scenes.mesh import Scene as Scene
    from posewright.formats.scenes.mesh import SceneMesh as SceneMesh
    from posewright.formats.scenes.mesh import Up as Up
    from posewright.formats.scenes.reading import SCENE_SUFFIXES as SCENE_SUFFIXES
    from posewright.formats.scenes.reading import Y_TO_Z as Y_TO_Z
    from posewright.formats.scenes.reading import pieces_of as pieces_of
    from posewright.formats.scenes.reading import read_scene as read_scene
    from posewright.formats.scenes.vrml import parse_vrml as parse_vrml
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
