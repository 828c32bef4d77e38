' Ours: the CEABOT obstacle race, there and back, by what is plugged into the AD ports:
'   AD(0) AD(1) AD(2)   infrared, straight ahead, to the left, to the right; more is nearer
'   AD(4)               compass, 0..255 for a whole turn to the left, 0 along the field
'   AD(5)               tilt, for falls
'
' It goes towards its goal while the way is free. Where something stands in the way it turns aside until the way is
' free, takes some steps, and turns back. What stands right across the way, after enough steps, is the end of the field.

CONST NEAR_AHEAD = 55  ' something 26 cm ahead
CONST NEAR_ASIDE = 52  ' something 28 cm ahead on one side
CONST WALL = 40        ' a wall 38 cm ahead, seen by all three
CONST ENOUGH = 40      ' so many half cycles of walking at the least lie between the two ends
CONST OFF = 12         ' 17 degrees off the goal: turn

DIM A AS BYTE
DIM GOAL AS BYTE   ' heading of the goal
DIM E AS BYTE      ' heading beyond the goal's, to the left; 128 and more is to the right
DIM F AS BYTE
DIM L AS BYTE
DIM R AS BYTE
DIM N AS BYTE      ' half cycles walked towards the goal on this leg
DIM SIDE AS BYTE   ' 0: no detour, 1: to the left, 2: to the right
DIM ASIDE AS BYTE  ' cycles still to be walked before it turns back to the goal
DIM FREE AS BYTE   ' cycles that the way to the goal was free
DIM BLOCKED AS BYTE
DIM MORE AS BYTE   ' 1: once the way is free, turn once more, for the arms
DIM LEGS AS BYTE

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

DELAY 5200  ' the rules: five seconds without moving
GOAL = 0
LEGS = 0

new_leg:
    N = 0
    SIDE = 0
    ASIDE = 0
    FREE = 0
    MORE = 0

look:
    GOSUB look_whether_it_lies
    GOSUB sense
    IF F > WALL AND L > WALL AND R > WALL THEN
        IF E < 25 OR E > 231 THEN
            IF N >= ENOUGH THEN GOTO end_of_leg
        ENDIF
    ENDIF
    IF BLOCKED = 1 THEN GOTO turn_aside
    IF MORE = 1 THEN
        MORE = 0
        GOTO turn_to_side
    ENDIF
    IF ASIDE > 0 THEN GOTO walk
    IF E >= OFF AND E < 128 THEN
        GOSUB turn_right
        GOTO look
    ENDIF
    A = 256 - OFF
    IF E >= 128 AND E < A THEN
        GOSUB turn_left
        GOTO look
    ENDIF

walk:
    GOSUB walk_start
    A = 0
    IF E < 21 OR E > 235 THEN N = N + 1
walk_on:
    GOSUB walk_cycle
    A = A + 1
    IF E < 43 OR E > 213 THEN N = N + 1
    IF E < 21 OR E > 235 THEN N = N + 1
    IF ASIDE > 0 THEN
        ASIDE = ASIDE - 1
        IF ASIDE = 0 THEN GOTO walk_stop
    ELSE
        FREE = FREE + 1
        IF FREE > 5 THEN SIDE = 0
    ENDIF
    GOSUB sense
    IF BLOCKED = 1 THEN GOTO walk_stop
    IF ASIDE = 0 AND E >= OFF AND E < 244 THEN GOTO walk_stop
    IF A < 8 THEN GOTO walk_on
walk_stop:
    GOSUB walk_end
    GOTO look

' Something stands in the way: turn to the side that is freer, and stay with it, unless that leads back.
turn_aside:
    FREE = 0
    ASIDE = 4
    MORE = 1
    IF SIDE = 0 THEN
        SIDE = 1
        IF L > R THEN SIDE = 2
    ENDIF
    IF SIDE = 1 AND E > 70 AND E < 128 THEN SIDE = 2
    IF SIDE = 2 AND E > 128 AND E < 186 THEN SIDE = 1
turn_to_side:
    A = AD(4)
    IF SIDE = 1 THEN GOSUB turn_left
    IF SIDE = 2 THEN GOSUB turn_right
    GOSUB back_if_stuck
    GOTO look

' A toe that touches a wall keeps it from turning: A is where it looked before.
back_if_stuck:
    A = AD(4) - A
    IF A < 5 OR A > 251 THEN GOSUB step_back
    RETURN

end_of_leg:
    LEGS = LEGS + 1
    IF LEGS = 2 THEN END
    GOAL = GOAL + 128
turn_round:
    A = AD(4)
    GOSUB turn_left
    GOSUB back_if_stuck
    E = AD(4) - GOAL
    IF E >= OFF AND E < 244 THEN GOTO turn_round
    GOTO new_leg

sense:
    F = AD(0)
    L = AD(1)
    R = AD(2)
    E = AD(4) - GOAL
    BLOCKED = 0
    IF F > NEAR_AHEAD THEN BLOCKED = 1
    IF L > NEAR_ASIDE THEN BLOCKED = 1
    IF R > NEAR_ASIDE THEN BLOCKED = 1
    RETURN

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

step_back:
    ' Two steps backward.
    SPEED 5
    MOVE G6A, 113,  82, 131, 101,  87
    MOVE G6D,  87,  82, 131, 101, 113
    MOVE G6B, 100,  38,  80
    MOVE G6C, 100,  38,  80
    WAIT
    SPEED 9
    MOVE G6A, 118,  82, 131, 101,  87
    MOVE G6D,  87,  91, 113, 111, 118
    MOVE G6B,  93,  38,  80
    MOVE G6C, 107,  38,  80
    WAIT
    MOVE G6A, 107,  74, 133, 107,  93
    MOVE G6D,  93,  91, 128,  95, 107
    MOVE G6B,  85,  38,  80
    MOVE G6C, 115,  38,  80
    WAIT
    SPEED 5
    MOVE G6A,  87,  73, 134, 107, 113
    MOVE G6D, 113,  89, 132,  93,  87
    MOVE G6B, 100,  38,  80
    MOVE G6C, 100,  38,  80
    WAIT
    SPEED 9
    MOVE G6A,  87,  91, 113, 111, 118
    MOVE G6D, 118,  82, 131, 101,  87
    MOVE G6B, 107,  38,  80
    MOVE G6C,  93,  38,  80
    WAIT
    MOVE G6A,  93,  91, 128,  95, 107
    MOVE G6D, 107,  74, 133, 107,  93
    MOVE G6B, 115,  38,  80
    MOVE G6C,  85,  38,  80
    WAIT
    SPEED 5
    MOVE G6A, 113,  89, 132,  93,  87
    MOVE G6D,  87,  73, 134, 107, 113
    MOVE G6B, 100,  38,  80
    MOVE G6C, 100,  38,  80
    WAIT
    SPEED 9
    MOVE G6A, 118,  82, 131, 101,  87
    MOVE G6D,  87,  91, 113, 111, 118
    MOVE G6B,  93,  38,  80
    MOVE G6C, 107,  38,  80
    WAIT
    MOVE G6A, 107,  74, 133, 107,  93
    MOVE G6D,  93,  91, 128,  95, 107
    MOVE G6B,  85,  38,  80
    MOVE G6C, 115,  38,  80
    WAIT
    SPEED 5
    MOVE G6A,  87,  73, 134, 107, 113
    MOVE G6D, 113,  89, 132,  93,  87
    MOVE G6B, 100,  38,  80
    MOVE G6C, 100,  38,  80
    WAIT
    SPEED 9
    MOVE G6A,  87,  91, 113, 111, 118
    MOVE G6D, 118,  82, 131, 101,  87
    MOVE G6B, 107,  38,  80
    MOVE G6C,  93,  38,  80
    WAIT
    MOVE G6A,  93,  84, 127, 103, 107
    MOVE G6D, 107,  82, 131, 101,  93
    MOVE G6B, 115,  38,  80
    MOVE G6C,  85,  38,  80
    WAIT
    SPEED 5
    GOSUB standard_pose
    RETURN

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

standard_pose:
    MOVE G6A, 100,  76, 145,  93, 100
    MOVE G6D, 100,  76, 145,  93, 100
    MOVE G6B, 100,  30,  80
    MOVE G6C, 100,  30,  80
    WAIT
    RETURN
