"""Robi 2: its memory, its servos, its postures and its programs, run on any body."""
