"""MoNet, after Sony's sample: plays motions and sounds by number, after the motions that lead to their posture."""
