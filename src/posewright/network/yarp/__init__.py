"""YARP: our own speaker of its wire protocol, so that nobody needs YARP itself to be served.

`bottle` and `text` are what is said, `carriers` how it is framed, `names` who is where, `port` and `clients`
the two ends of a connection; `transport` serves a robot, `link` opens one that is served. YARP has neither
TLS nor passwords: all of it stays on loopback.

Source: the protocol as it was observed between the programs of YARP 3.9.1; where that left two readings, such
as where a datagram's count begins anew, YARP 3.5.0 was read (it does with every message).
"""
