"""A robot that is served over Zenoh: its session, its transport, the wire to it, and its ROS 2 messages."""
