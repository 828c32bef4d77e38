"""Comparison of a unit in the interpreter, in a library on this computer and on an emulated board."""
