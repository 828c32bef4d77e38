"""A fake bus: AX-12 servos and an AX-S1 that answer as the manual describes, on a wire with real timing.

`device` and `servo` model one device each: a packet in, a packet out. `bus` models the wire between them and
a
controller without a clock: bytes at times in, bytes at times out. `physics` moves the joints of any plant by
the registers. `damage` describes failures. `port` runs a bus on a pseudo-terminal, in real time.
"""
