' Ours: gets up whenever it lies on the floor. Key 1 lets it fall on its face, key 2 on its back.
DIM A AS BYTE

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

main:
    A = REMOCON(1)
    IF A = 1 THEN GOSUB fall_forward
    IF A = 2 THEN GOSUB fall_back
    GOSUB look_whether_it_lies
    GOTO main

look_whether_it_lies:
    ' Below 30 on its back, above 200 on its face, above 250 there is no sensor.
    A = AD(5)
    IF A > 250 THEN RETURN
    IF A >= 30 AND A <= 200 THEN RETURN
    ' Somebody may put it back on its feet.
    DELAY 1500
    A = AD(5)
    IF A > 200 THEN GOTO from_the_face
    IF A < 30 THEN GOTO from_the_back
    RETURN

from_the_face:
    ' Arms out, legs drawn in.
    SPEED 8
    MOVE G6A, 100, 150, 100, 110, 120
    MOVE G6D, 100, 150, 100, 110, 120
    MOVE G6B, 140, 150,  30
    MOVE G6C, 140, 150,  30
    WAIT
    ' Arms forward, so that they push off the floor; legs apart.
    MOVE G6A,  75, 150,  80, 160, 150
    MOVE G6D,  75, 150,  80, 160, 150
    MOVE G6B, 190,  45,  70
    MOVE G6C, 190,  45,  70
    WAIT
    ' Push.
    MOVE G6A,  70, 166,  50, 165, 155
    MOVE G6D,  70, 166,  50, 165, 155
    MOVE G6B, 190,  15, 100
    MOVE G6C, 190,  15, 100
    WAIT
    ' Knees under the body.
    SPEED 6
    MOVE G6A,  62, 166,  30, 165, 155
    MOVE G6D,  62, 166,  30, 165, 155
    MOVE G6B, 160,  15, 100
    MOVE G6C, 160,  15, 100
    WAIT
    ' Over the feet.
    MOVE G6A,  70, 160,  24, 152, 135
    MOVE G6D,  70, 160,  24, 152, 135
    MOVE G6B, 140,  50,  90
    MOVE G6C, 140,  50,  90
    WAIT
    ' Feet together.
    SPEED 5
    MOVE G6A, 100, 153,  24, 138, 101
    MOVE G6D, 100, 153,  24, 138, 101
    MOVE G6B, 115,  40,  80
    MOVE G6C, 115,  40,  80
    WAIT
    SPEED 5
    GOSUB standard_pose
    RETURN

from_the_back:
    ' Legs drawn in.
    SPEED 8
    MOVE G6A, 100,  20, 110, 120, 100
    MOVE G6D, 100,  20, 110, 120, 100
    MOVE G6B,  60, 130,  20
    MOVE G6C,  60, 130,  20
    WAIT
    ' Arms backward.
    SPEED 10
    MOVE G6A, 100,  15,  90, 140, 100
    MOVE G6D, 100,  15,  90, 140, 100
    MOVE G6B,  15, 120,  20
    MOVE G6C,  15, 120,  20
    WAIT
    ' Feet under the body, arms push.
    MOVE G6A, 100, 120,  55,  60, 100
    MOVE G6D, 100, 120,  55,  60, 100
    MOVE G6B,  15,  30,  90
    MOVE G6C,  15,  30,  90
    WAIT
    ' Push.
    MOVE G6A, 100, 165,  60,  20, 100
    MOVE G6D, 100, 165,  60,  20, 100
    MOVE G6B,  25,  20,  95
    MOVE G6C,  25,  20,  95
    WAIT
    ' Sit up.
    SPEED 8
    MOVE G6A, 100, 165,  35, 105, 100
    MOVE G6D, 100, 165,  35, 105, 100
    MOVE G6B, 110,  60,  60
    MOVE G6C, 110,  60,  60
    WAIT
    SPEED 6
    GOSUB standard_pose
    RETURN

fall_forward:
    SPEED 10
    MOVE G6A, 100, 120, 145,  93, 100
    MOVE G6D, 100, 120, 145,  93, 100
    WAIT
    DELAY 1200
    SPEED 6
    GOSUB standard_pose
    RETURN

fall_back:
    SPEED 10
    MOVE G6A, 100,  35, 145,  93, 100
    MOVE G6D, 100,  35, 145,  93, 100
    WAIT
    DELAY 1200
    SPEED 6
    GOSUB standard_pose
    RETURN

standard_pose:
    MOVE G6A, 100,  76, 145,  93, 100
    MOVE G6D, 100,  76, 145,  93, 100
    MOVE G6B, 100,  30,  80
    MOVE G6C, 100,  30,  80
    WAIT
    RETURN
