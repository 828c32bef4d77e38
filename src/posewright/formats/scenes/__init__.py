"""Scene files (VRML97, OBJ, STL and GLB): meshes with names and colours, and pieces of an arena."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.formats.scenes.mesh import MAX_SCENE_BYTES as MAX_SCENE_BYTES
    from posewright.formats.scenes.mesh import SceneMesh as SceneMesh
    from posewright.formats.scenes.reading import SCENES as SCENES
    from posewright.formats.scenes.reading import Up as Up
    from posewright.formats.scenes.reading import pieces_of as pieces_of
    from posewright.formats.scenes.reading import read_scene as read_scene
    from posewright.formats.scenes.vrml import parse_vrml as parse_vrml
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
