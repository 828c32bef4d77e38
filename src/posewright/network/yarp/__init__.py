"""YARP: an implementation of its wire protocol, so that no installation of YARP is needed.

`bottle` and `text` are the encodings of messages, `carriers` their framing, `names` the name server, `port`
and `clients` the two ends of a connection; `transport` serves a robot, and `link` opens a served one. YARP
has neither TLS nor passwords, so all ports listen on loopback only.

Source: the protocol observed between the programs of YARP 3.9.1; where the observation was ambiguous, the
source code of YARP 3.5.0 (for example, datagrams are counted from 0 in every message).
"""
