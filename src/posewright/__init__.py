"""Posewright: a workbench for small legged robots."""

from __future__ import annotations

__version__ = "0.1.0"
