"""Sony AIBO motions, OMTN: bytes, motions, and what the robot's player makes of them."""
