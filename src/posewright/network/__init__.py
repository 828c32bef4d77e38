"""Network: robots that are served to other programs, and robots that are driven across a network.

`host` serves a robot, and lends it to a client through `plant_server`; `remote_plant` is the client's plant;
`wire_messages` and `wire_records` are their protocol. `transport` has the interfaces that `zenoh` and `yarp`
implement. This package does not depend on the simulation: a host gets any plant.
"""
