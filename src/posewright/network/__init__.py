"""Network: a robot that is served to others, and one that is driven from far away.

`host` serves a robot, and lends its time to a client through `plant_server`; `remote_plant` is that client's
plant; `wire_messages` and `wire_records` are what they exchange. `transport` has the interfaces; `zenoh` and
`yarp` implement them. Nothing here knows the simulation: a host is given a plant.
"""
