"""Gaits and their parameters as pictures; nothing is simulated."""
