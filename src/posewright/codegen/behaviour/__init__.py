"""Whole behaviours as C: sensors, chart, motions and servo packets."""
