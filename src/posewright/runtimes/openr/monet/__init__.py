"""MoNet, Sony's object that plays motions and sounds by number, and finds the way to the posture they begin in."""
