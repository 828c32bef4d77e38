"""Gaits of four legs; their door is that of the room."""
