"""Buses: robots on a wire as plants and bodies like any other.

A bus of Dynamixel servos (`dynamixel`), the serial board of a RoboNova-1 (`robonova`). Nothing here knows the
simulation: a fake bus is given a plant.
"""
