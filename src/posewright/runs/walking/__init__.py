"""Walks of gaits on simulated bodies, recorded and measured: on one body, on many, steered, or as a batch."""
