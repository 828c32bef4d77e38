"""Hardware in the loop: a board, emulated or real, controls a simulated robot.

`frames` has the frames of the serial line, as in `targets/link.c`; `serial_line` is a real port, `damage` a
faulty line; `board_link` sends requests and repeats them; `board_unit` steps a unit on a board and the
interpreter beside it; `controllers` drive a robot by a board; `boards` lists the boards.
"""
