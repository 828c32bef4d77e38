"""Gaits found by search: what is searched, walked, and what it is worth. `tuning` does the searching.

What others use is listed in `posewright.runs`, which loads it on first use.
"""
