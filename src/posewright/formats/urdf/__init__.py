"""Robots as URDF, the format of ROS: read as a mechanism, and written from one."""
