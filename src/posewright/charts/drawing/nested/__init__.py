"""Layout of nodes inside nodes, with links that cross their borders."""

from posewright.charts.drawing.nested.choosing import best_scene
from posewright.charts.drawing.nested.scene import Scene, Track

__all__ = ["Scene", "Track", "best_scene"]
