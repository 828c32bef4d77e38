"""Zenoh: a served robot on its network with ROS 2's messages, and the link to one."""
