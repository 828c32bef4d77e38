"""YARP: our own speaker of its wire protocol, for there is no YARP to install from where Posewright comes.

`bottle` and `text` are what is said, `carriers` how it is framed, `names` who is where, `port` and `clients`
the two ends of a connection. YARP has neither TLS nor passwords: all of it stays on loopback.

Source: the protocol as it was observed between the programs of YARP 3.9.1.
"""
