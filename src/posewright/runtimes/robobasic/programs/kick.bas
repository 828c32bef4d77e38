' Ours: kicks with the right foot, then with the left.

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

GOSUB kick_right
DELAY 500
GOSUB kick_left
END

kick_right:
    ' Lean over.
    SPEED 4
    MOVE G6A, 112,  71, 154,  89,  98
    MOVE G6D,  78,  71, 154,  89, 106
    MOVE G6B, 108,  45,  75
    MOVE G6C,  92,  45,  75
    WAIT
    ' Lift, and swing back.
    SPEED 6
    MOVE G6A, 114,  70, 154,  90,  96
    MOVE G6D,  90,  99, 126,  90, 114
    MOVE G6B,  82,  45,  75
    MOVE G6C, 118,  45,  75
    WAIT
    ' Kick.
    SPEED 6
    HIGHSPEED SETON
    MOVE G6A, 114,  72, 154,  87,  96
    MOVE G6D,  90,  53, 145, 116, 114
    MOVE G6B, 135,  45,  75
    MOVE G6C,  65,  45,  75
    WAIT
    HIGHSPEED SETOFF
    DELAY 200
    ' And down.
    SPEED 8
    MOVE G6A, 114,  75, 148,  92,  96
    MOVE G6D,  86,  88, 121, 105, 110
    MOVE G6B, 100,  45,  75
    MOVE G6C, 100,  45,  75
    WAIT
    SPEED 5
    MOVE G6A, 110,  76, 145,  93,  97
    MOVE G6D,  80,  76, 145,  93, 105
    MOVE G6B, 100,  45,  75
    MOVE G6C, 100,  45,  75
    WAIT
    GOSUB standard_pose
    RETURN

kick_left:
    ' Lean over.
    SPEED 4
    MOVE G6A,  78,  71, 154,  89, 106
    MOVE G6D, 112,  71, 154,  89,  98
    MOVE G6B,  92,  45,  75
    MOVE G6C, 108,  45,  75
    WAIT
    ' Lift, and swing back.
    SPEED 6
    MOVE G6A,  90,  99, 126,  90, 114
    MOVE G6D, 114,  70, 154,  90,  96
    MOVE G6B, 118,  45,  75
    MOVE G6C,  82,  45,  75
    WAIT
    ' Kick.
    SPEED 6
    HIGHSPEED SETON
    MOVE G6A,  90,  53, 145, 116, 114
    MOVE G6D, 114,  72, 154,  87,  96
    MOVE G6B,  65,  45,  75
    MOVE G6C, 135,  45,  75
    WAIT
    HIGHSPEED SETOFF
    DELAY 200
    ' And down.
    SPEED 8
    MOVE G6A,  86,  88, 121, 105, 110
    MOVE G6D, 114,  75, 148,  92,  96
    MOVE G6B, 100,  45,  75
    MOVE G6C, 100,  45,  75
    WAIT
    SPEED 5
    MOVE G6A,  80,  76, 145,  93, 105
    MOVE G6D, 110,  76, 145,  93,  97
    MOVE G6B, 100,  45,  75
    MOVE G6C, 100,  45,  75
    WAIT
    GOSUB standard_pose
    RETURN

standard_pose:
    MOVE G6A, 100,  76, 145,  93, 100
    MOVE G6D, 100,  76, 145,  93, 100
    MOVE G6B, 100,  30,  80
    MOVE G6C, 100,  30,  80
    WAIT
    RETURN
