"""ROBOTIS RoboPlus Motion 1 text files."""
