"""A robot that is served over Zenoh: its session, its door, the wire to it, and the messages a ROS 2 user expects."""
