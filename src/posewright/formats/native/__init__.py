"""Native motion files, `*.motion.yaml`."""

from __future__ import annotations

from posewright.formats.native.format import read, render, write

__all__ = ["read", "render", "write"]
