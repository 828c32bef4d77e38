' Ours: turns to the left and back again, by some 25 degrees a time; this robot cannot turn its legs.
DIM I AS BYTE

PTP SETON
PTP ALLON
DIR G6A, 1, 0, 0, 1, 0, 0
DIR G6B, 1, 1, 1, 1, 1, 1
DIR G6C, 0, 0, 0, 0, 0, 0
DIR G6D, 0, 1, 1, 0, 1, 0

' Motors on, each where it is; then to the standard pose.
GETMOTORSET G24, 1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 0
SPEED 5
MOTOR G24
GOSUB standard_pose

FOR I = 1 TO 4
    GOSUB turn_left
NEXT I
DELAY 500
FOR I = 1 TO 4
    GOSUB turn_right
NEXT I
END

turn_left:
    ' Lean to the left.
    SPEED 5
    MOVE G6A, 112,  77, 144,  94,  92
    MOVE G6D,  88,  77, 144,  94, 111
    MOVE G6B, 100,  40,  80
    MOVE G6C, 100,  40,  80
    WAIT
    ' The right foot up and forward.
    SPEED 7
    MOVE G6A, 113,  79, 144,  91,  92
    MOVE G6D,  90,  67, 134, 113, 112
    MOVE G6B, 108,  40,  80
    MOVE G6C,  92,  40,  80
    WAIT
    ' Down: now it stands on both, one ahead of the other.
    MOVE G6A, 107,  81, 145,  89,  95
    MOVE G6D,  93,  49, 163, 103, 107
    MOVE G6B, 110,  40,  80
    MOVE G6C,  90,  40,  80
    WAIT
    ' Feet together: they slide, and the robot turns.
    SPEED 6
    GOSUB standard_pose
    DELAY 100
    RETURN

turn_right:
    ' Lean to the right.
    SPEED 5
    MOVE G6A,  88,  77, 144,  94, 111
    MOVE G6D, 112,  77, 144,  94,  92
    MOVE G6B, 100,  40,  80
    MOVE G6C, 100,  40,  80
    WAIT
    ' The left foot up and forward.
    SPEED 7
    MOVE G6A,  90,  67, 134, 113, 112
    MOVE G6D, 113,  79, 144,  91,  92
    MOVE G6B,  92,  40,  80
    MOVE G6C, 108,  40,  80
    WAIT
    ' Down: now it stands on both, one ahead of the other.
    MOVE G6A,  93,  49, 163, 103, 107
    MOVE G6D, 107,  81, 145,  89,  95
    MOVE G6B,  90,  40,  80
    MOVE G6C, 110,  40,  80
    WAIT
    ' Feet together: they slide, and the robot turns.
    SPEED 6
    GOSUB standard_pose
    DELAY 100
    RETURN

standard_pose:
    MOVE G6A, 100,  76, 145,  93, 100
    MOVE G6D, 100,  76, 145,  93, 100
    MOVE G6B, 100,  30,  80
    MOVE G6C, 100,  30,  80
    WAIT
    RETURN
