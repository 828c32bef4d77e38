"""MoNet, after Sony's sample: plays motions and sounds by number, from any posture."""
