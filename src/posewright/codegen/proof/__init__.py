"""Proof that a unit does the same everywhere: interpreter, library, emulated board."""
