"""Network: a robot that is served to others, and one that is driven from far away.

`served` is the host, its client and their messages; `zenoh` and `yarp` carry them. Nothing here knows the
simulation: a host is given a plant.
"""
