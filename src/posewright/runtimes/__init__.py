"""Runtimes: robots' own software, run on any body."""
