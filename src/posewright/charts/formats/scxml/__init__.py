"""SCXML: the W3C's notation for statecharts, in and out. docs/scxml.md states the subset."""
