' Posewright's receiver for a RoboNova-1 (MR-C3024, RoboBASIC 2.5). Write it to the board once.
' Heard:    255, 16 positions 10..190, check        a pose
'           253                                     a question
'           254, 85                                 all motors off
' Answered: 252 (done) or 251 (damaged), AD(6) battery, AD(5) tilt, check
' Check: each number times its place, counted from 1, added up, MOD 241.

DIM A AS BYTE
DIM B AS BYTE
DIM T AS BYTE
DIM R AS BYTE
DIM F AS BYTE
DIM S AS INTEGER
DIM M AS INTEGER
{DECLARE}

PTP SETON
PTP ALLON
DIR G6A, 1, 0, 0, 1, 0, 0
DIR G6B, 1, 1, 1, 1, 1, 1
DIR G6C, 0, 0, 0, 0, 0, 0
DIR G6D, 0, 1, 1, 0, 1, 0
F = 1

MAIN:
    ERX 4800, A, MAIN
KIND:
    IF A = 255 THEN GOTO POSE_COMES
    IF A = 253 THEN GOTO DONE
    IF A = 254 THEN GOTO OFF_COMES
    GOTO MAIN

OFF_COMES:
    ERX 4800, A, OFF_COMES
    IF A <> 85 THEN GOTO KIND
    MOTOROFF G6A
    MOTOROFF G6B
    MOTOROFF G6C
    MOTOROFF G6D
    F = 1
    GOTO DONE

' A number above 190 in place of a position begins something new: bytes were lost.
POSE_COMES:
    S = 0
{RECEIVE}
CHECK_COMES:
    ERX 4800, A, CHECK_COMES
    M = S MOD 241
    IF A <> M THEN GOTO DAMAGED
    IF F = 0 THEN GOTO GO
    GETMOTORSET G24, 1, 1, 1, 1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1, 0
    SPEED 3
GO:
    MOVE G6A, P0, P1, P2, P3, P4
    MOVE G6B, P5, P6, P7
    MOVE G6C, P8, P9, P10
    MOVE G6D, P11, P12, P13, P14, P15
    IF F = 0 THEN GOTO DONE
    WAIT
    SPEED 15
    F = 0

DONE:
    R = 252
    GOTO TELL
DAMAGED:
    R = 251
TELL:
    B = AD(6)
    T = AD(5)
    S = B * 2 + R
    M = T * 3
    S = S + M
    M = S MOD 241
    A = M
    ETX 4800, R
    ETX 4800, B
    ETX 4800, T
    ETX 4800, A
    GOTO MAIN
