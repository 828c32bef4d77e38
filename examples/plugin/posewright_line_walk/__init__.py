"""A contest and a body for Posewright."""
