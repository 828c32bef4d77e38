"""Links: robots that are real or far away, as plants and bodies like any other, and how others reach ours.

A servo bus (`dynamixel`), a serial board (`robonova`), a robot that is served across a network (`served`,
over `zenoh` or `yarp`). Nothing here knows the simulation: a fake bus and a server are given a plant.
"""
