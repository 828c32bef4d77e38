"""A gait walked on a simulated body, and measured: how fast, how upright, how hard for its joints.

What others use is listed in `posewright.experiments`, which loads it on first use: who walks does not load what
draws walks.
"""
