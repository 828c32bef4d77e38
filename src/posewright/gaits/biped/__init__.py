"""Gaits of two legs; their door is that of the room."""
