"""Wiring: from sensors to a chart's inputs, and from its outputs to motions."""
