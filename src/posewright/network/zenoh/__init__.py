"""Zenoh: serves a robot with messages of ROS 2, and opens a served robot."""
