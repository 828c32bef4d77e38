"""Posewright: a workbench for small legged robots."""
