"""Robi 2: its memory, its postures and its programs run on any body."""
