"""Motions as pictures: every joint over time, and what is wrong with it."""
