' Ours: walks straight ahead, N cycles of two steps: some 8 cm each.
DIM I AS BYTE
DIM N AS BYTE

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

N = 8
GOSUB walk_start
FOR I = 1 TO N
    GOSUB walk_cycle
NEXT I
GOSUB walk_end
END

walk_start:
    ' Lean to the left.
    SPEED 5
    MOVE G6A, 113,  81, 131,  98,  87
    MOVE G6D,  87,  81, 131,  98, 113
    MOVE G6B, 100,  38,  80
    MOVE G6C, 100,  38,  80
    WAIT
    ' The right foot up and forward.
    SPEED 10
    MOVE G6A, 118,  81, 131,  98,  87
    MOVE G6D,  87,  90, 113, 108, 118
    MOVE G6B,  93,  38,  80
    MOVE G6C, 107,  38,  80
    WAIT
    ' And down, half a step ahead.
    MOVE G6A, 107,  91, 135,  85,  93
    MOVE G6D,  93,  68, 133, 110, 107
    MOVE G6B,  85,  38,  80
    MOVE G6C, 115,  38,  80
    WAIT
    RETURN

walk_cycle:
    ' Lean to the right, and a step with the left.
    SPEED 5
    MOVE G6A,  87,  92, 135,  84, 113
    MOVE G6D, 113,  66, 138, 107,  87
    MOVE G6B, 100,  38,  80
    MOVE G6C, 100,  38,  80
    WAIT
    SPEED 10
    MOVE G6A,  87,  90, 113, 108, 118
    MOVE G6D, 118,  81, 131,  98,  87
    MOVE G6B, 107,  38,  80
    MOVE G6C,  93,  38,  80
    WAIT
    MOVE G6A,  93,  68, 133, 110, 107
    MOVE G6D, 107,  91, 135,  85,  93
    MOVE G6B, 115,  38,  80
    MOVE G6C,  85,  38,  80
    WAIT
    ' Lean to the left, and a step with the right.
    SPEED 5
    MOVE G6A, 113,  66, 138, 107,  87
    MOVE G6D,  87,  92, 135,  84, 113
    MOVE G6B, 100,  38,  80
    MOVE G6C, 100,  38,  80
    WAIT
    SPEED 10
    MOVE G6A, 118,  81, 131,  98,  87
    MOVE G6D,  87,  90, 113, 108, 118
    MOVE G6B,  93,  38,  80
    MOVE G6C, 107,  38,  80
    WAIT
    MOVE G6A, 107,  91, 135,  85,  93
    MOVE G6D,  93,  68, 133, 110, 107
    MOVE G6B,  85,  38,  80
    MOVE G6C, 115,  38,  80
    WAIT
    RETURN

walk_end:
    ' The left foot comes up beside the right.
    SPEED 5
    MOVE G6A,  87,  92, 135,  84, 113
    MOVE G6D, 113,  66, 138, 107,  87
    MOVE G6B, 100,  38,  80
    MOVE G6C, 100,  38,  80
    WAIT
    SPEED 8
    MOVE G6A,  87,  90, 113, 108, 118
    MOVE G6D, 118,  81, 131,  98,  87
    MOVE G6B, 107,  38,  80
    MOVE G6C,  93,  38,  80
    WAIT
    SPEED 7
    MOVE G6A,  93,  83, 127, 100, 107
    MOVE G6D, 107,  81, 131,  98,  93
    MOVE G6B, 115,  38,  80
    MOVE G6C,  85,  38,  80
    WAIT
    SPEED 5
    GOSUB standard_pose
    RETURN

standard_pose:
    MOVE G6A, 100,  76, 145,  93, 100
    MOVE G6D, 100,  76, 145,  93, 100
    MOVE G6B, 100,  30,  80
    MOVE G6C, 100,  30,  80
    WAIT
    RETURN
