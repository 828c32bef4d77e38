"""Dynamixel servos of protocol 1.0 (AX-12): their bus, a body on it, and a fake bus that speaks alike."""
