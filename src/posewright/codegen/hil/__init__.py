"""Hardware in the loop: a board, emulated or real, decides what a simulated robot does.

`frames` is the line's language, the same as that of `targets/link.c`; `serial_line` is a real port, `damage`
makes a bad one; `board_link` asks and asks again; `board_unit` steps a unit there and the interpreter beside
it; `controllers` let a robot do what the board says.
"""
