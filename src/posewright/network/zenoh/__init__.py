"""A robot that is served over Zenoh: its session, its door, the wire to it, and its ROS 2 messages."""
