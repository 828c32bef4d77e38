"""MoNet, after Sony's sample: motions and sounds by number, and the way to the posture they begin in."""
