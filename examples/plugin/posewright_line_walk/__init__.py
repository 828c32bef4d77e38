"""A contest, a body and a kind of programs for Posewright."""
