"""A whole day of contests: entries are folders, and everybody plays everything. `playing` is where it begins.

What others use is listed in `posewright.runs`, which loads it on first use.
"""
