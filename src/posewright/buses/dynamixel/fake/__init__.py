"""A fake bus: AX-12 servos and an AX-S1 that answer as the manual says, on a wire that costs time.

`servo` is one servo or sensor at a time: a packet in, a packet out. `bus` is the wire between them and a
controller, pure: bytes at times in, bytes at times out. `physics` moves the joints of any plant as registers
say. `damage` is what goes wrong. `port` runs it all on a pseudo-terminal, in real time.
"""
