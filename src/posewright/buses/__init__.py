"""Robots on a serial line, each as a plant with a body.

A bus of Dynamixel servos (`dynamixel`) and the serial board of a RoboNova-1 (`robonova`). Nothing here
imports the simulation; a fake bus takes any plant.
"""
