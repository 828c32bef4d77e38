#include "player.h"

#include <stddef.h>
#include <string.h>

#define PLACES 28U                       /* binary places of a share */
#define ONE ((uint64_t)1 << PLACES)
#define TICK_PLACES 16U
#define HALF_TICK ((int32_t)1 << (TICK_PLACES - 1U))

/* One pass that is played. */
typedef struct {
    const motion_t *motion;
    uint32_t left;           /* rows to come */
    int64_t local;           /* when the last row was, in parts of a frame */
    int16_t way;             /* which keyframe is gone to; -1 before the first */
    int32_t begin[N_JOINTS]; /* positions at the beginning of the way */
    int32_t end[N_JOINTS];   /* at its end; before the first way, where the pass begins */
} course_t;

/* What is played, and what was asked for. */
static struct {
    uint8_t now, asked, served;
    uint32_t lap;
    bool left_through[N_MOTIONS + 1U]; /* exits played since something else was asked for */
} turn;

static course_t course;
static uint32_t phase;                 /* how far the pass ends after its last row, in parts of a frame */
static uint32_t joined, join;          /* frames of the way to the pass: gone, and all of them */
static int32_t join_begin[N_JOINTS];
static int32_t command[N_JOINTS];
static uint16_t sent[N_JOINTS];
static bool has_begun;                 /* a motion, since the reset */

/* Shares of a way */

static uint64_t product(uint64_t a, uint64_t b)
{
    return (a * b) >> PLACES;
}

static uint64_t minimum_jerk(uint64_t s)
{
    const uint64_t cube = product(product(s, s), s);
    return product(cube, (10U * ONE) - product(s, (15U * ONE) - (6U * s)));
}

/* Half a cosine: the square of the sine of a quarter turn's share. */
static uint64_t smooth(uint64_t u)
{
    /* pi/2 and its powers over the factorials of 1, 3, 5 to 11: the series of the sine; the last makes its end ONE */
    static const uint32_t terms[] = {421657428U, 173399667U, 21392326U, 1256749U, 43068U, 950U};
    const uint64_t square = product(u, u);
    uint64_t sine = terms[5];
    uint64_t share;
    uint8_t k;
    for (k = 5U; k > 0U; k--) {
        sine = terms[k - 1U] - product(square, sine);
    }
    sine = product(u, sine);
    share = product(sine, sine);
    return (share < ONE) ? share : ONE;
}

/* Speeds up for a share of the time, and brakes as long. */
static uint64_t trapezoid(uint64_t u, uint64_t accel)
{
    const uint64_t cruise = (ONE << PLACES) / (ONE - accel);
    const uint64_t rest = ONE - u;
    if (u < accel) {
        return product(cruise, (u * u) / accel) / 2U;
    }
    if (rest < accel) {
        return ONE - (product(cruise, (rest * rest) / accel) / 2U);
    }
    return product(cruise, u - (accel / 2U));
}

static int32_t between(int32_t begin, int32_t end, uint64_t share)
{
    const int64_t all = (int64_t)ONE;
    const int64_t sum = (begin * all) + ((int64_t)(end - begin) * (int64_t)share) + (all / 2);
    return (int32_t)((uint64_t)sum >> PLACES); /* positions are never below 0 */
}

static uint32_t distance(int32_t a, int32_t b)
{
    return (uint32_t)((a > b) ? (a - b) : (b - a));
}

static int32_t told(int32_t position, int32_t before)
{
    return (position == HELD) ? before : position;
}

/* Passes */

static void next_way(void)
{
    uint8_t joint;
    course.way++;
    for (joint = 0U; joint < N_JOINTS; joint++) {
        const int32_t position = course.motion->positions[((size_t)course.way * N_JOINTS) + joint];
        course.begin[joint] = course.end[joint];
        course.end[joint] = told(position, course.end[joint]);
    }
}

/* Whether the way is over; at its very end a jump that begins there wins. */
static bool is_behind(int64_t now)
{
    const keyframe_t *frames = course.motion->keyframes;
    const uint8_t after = (uint8_t)(course.way + 1);
    if ((course.way < 0) || (after == course.motion->n_keyframes)) {
        return course.way < 0;
    }
    return (now > frames[after - 1].ends) ||
           ((now == frames[after - 1].ends) && (frames[after].arrives <= frames[after - 1].ends));
}

static void row(int32_t *positions)
{
    const motion_t *motion = course.motion;
    const keyframe_t *frame = &motion->keyframes[motion->n_keyframes - 1];
    uint64_t share = ONE;
    uint32_t leaves;
    int64_t now;
    uint8_t joint;
    course.left--;
    course.local += FRAME_PARTS;
    now = (course.local < frame->ends) ? course.local : frame->ends;
    while (is_behind(now)) {
        next_way();
    }
    frame = &motion->keyframes[course.way];
    leaves = (course.way > 0) ? motion->keyframes[course.way - 1].ends : 0U;
    if ((now < frame->arrives) && (frame->arrives > leaves)) {
        share = ((uint64_t)(now - leaves) * ONE) / (frame->arrives - leaves);
    }
    if (frame->easing == 1U) {
        share = smooth(share);
    } else if (frame->easing == 2U) {
        share = trapezoid(share, frame->accel);
    }
    for (joint = 0U; joint < N_JOINTS; joint++) {
        positions[joint] = between(course.begin[joint], course.end[joint], share);
    }
}

/* Puts the positions at the very end of the pass into `course.end`. */
static void arrive(void)
{
    while ((course.way + 1) < course.motion->n_keyframes) {
        next_way();
    }
}

/* Goes to where the pass ends; its last frame may have come a little before that. */
static void stand_at_end(void)
{
    if (phase != 0U) {
        arrive();
        memcpy(command, course.end, sizeof command);
    }
    phase = 0U;
}

/* Begins a pass from `course.end`. */
static void make(const motion_t *motion)
{
    course.motion = motion;
    course.left = (motion->length + phase) / FRAME_PARTS;
    course.local = -(int64_t)phase;
    course.way = -1;
}

static void play(const motion_t *motion, uint32_t skipped)
{
    make(motion);
    phase = (motion->length + phase) - (course.left * FRAME_PARTS);
    course.left = (course.left > skipped) ? (course.left - skipped) : 0U;
    course.local += (int64_t)skipped * FRAME_PARTS;
}

/* Prepares the way from the present command to `course.end`; none where they are one. */
static void join_end(void)
{
    const uint64_t frame = ONE << TICK_PLACES;
    uint64_t longest = 0U;
    bool is_apart = false;
    uint8_t joint;
    for (joint = 0U; joint < N_JOINTS; joint++) {
        const uint32_t way = distance(course.end[joint], command[joint]);
        const uint64_t frames = (uint64_t)way * servos[joint].join_frames;
        longest = (frames > longest) ? frames : longest;
        is_apart = is_apart || (way > servos[joint].touching);
    }
    memcpy(join_begin, command, sizeof join_begin);
    joined = 0U;
    join = 0U;
    if (is_apart) {
        join = (uint32_t)((longest + frame - 1U - (frame / 1000000000U)) / frame);
        join = (join > SHORTEST_JOIN) ? join : SHORTEST_JOIN;
    }
}

/* Whether no joint is asked for more than its step, up to the first keyframe. */
static bool can_follow(const motion_t *motion, bool is_linked)
{
    static int32_t before[N_JOINTS], now[N_JOINTS];
    uint32_t rows;
    uint8_t joint;
    make(motion);
    memcpy(before, command, sizeof before);
    rows = (course.left < (motion->first_way + 1U)) ? course.left : (motion->first_way + 1U);
    for (; rows > 0U; rows--) {
        row(now);
        for (joint = 0U; joint < N_JOINTS; joint++) {
            const servo_t *servo = &servos[joint];
            if (distance(now[joint], before[joint]) > (is_linked ? servo->step : servo->asked_step)) {
                return false;
            }
        }
        memcpy(before, now, sizeof before);
    }
    return true;
}

/* Begins a motion that does not say from where: in its own time where the servos can. */
static void begin_anywhere(const motion_t *motion, bool is_linked)
{
    static int32_t now[N_JOINTS];
    const uint32_t begun = is_linked ? phase : 0U;
    uint8_t joint;
    if (begun != 0U) {
        arrive();
        memcpy(now, course.end, sizeof now);
    } else {
        memcpy(now, command, sizeof now);
    }
    phase = begun;
    memcpy(course.end, now, sizeof now);
    if (can_follow(motion, is_linked)) {
        memcpy(course.end, now, sizeof now);
        play(motion, 0U);
        return;
    }
    phase = 0U;
    for (joint = 0U; joint < N_JOINTS; joint++) {
        course.end[joint] = told(motion->positions[joint], now[joint]);
    }
    join_end();
    play(motion, motion->first_way);
}

/* What follows what */

static bool is_left(void)
{
    bool through_any = false;
    uint8_t motion;
    for (motion = 1U; motion <= N_MOTIONS; motion++) {
        through_any = through_any || turn.left_through[motion];
    }
    return (turn.asked != turn.served) || through_any;
}

/* Returns the motion that follows as things stand now, 0 for standing still; `lap` and `linked` say how. */
static uint8_t following(uint32_t *lap, bool *is_linked)
{
    const motion_t *motion = &motions[turn.now];
    const bool leaves = is_left();
    *lap = 0U;
    *is_linked = false;
    if (turn.now == 0U) {
        return leaves ? turn.asked : 0U;
    }
    if (leaves) {
        const uint32_t repeat = (motion->repeat > 0U) ? motion->repeat : 1U;
        if (turn.left_through[turn.now] && ((turn.lap + 1U) < repeat)) {
            *lap = turn.lap + 1U;
            return turn.now;
        }
        *is_linked = (motion->exit != 0U) && !turn.left_through[motion->exit];
        return *is_linked ? motion->exit : turn.asked;
    }
    if ((motion->repeat == 0U) || ((turn.lap + 1U) < motion->repeat)) {
        *lap = turn.lap + ((turn.lap < UINT32_MAX) ? 1U : 0U);
        return turn.now;
    }
    *is_linked = motion->next != 0U;
    return motion->next;
}

static void go_on(void)
{
    const bool leaves = is_left();
    const motion_t *motion;
    uint32_t lap;
    bool is_linked;
    uint8_t joint;
    const uint8_t number = following(&lap, &is_linked);
    if ((number != 0U) && is_linked && leaves) {
        turn.left_through[number] = true;
    } else if ((number == 0U) || (lap == 0U)) {
        memset(turn.left_through, 0, sizeof turn.left_through);
        if (!is_linked) {
            turn.served = turn.asked;
        }
    }
    turn.now = number;
    turn.lap = lap;
    has_begun = has_begun || (number != 0U);
    motion = &motions[number];
    if (number == 0U) {
        stand_at_end();
    } else if (lap > 0U) {
        arrive();
        play(motion, 0U);
    } else if (motion->start != NULL) {
        phase = 0U;
        for (joint = 0U; joint < N_JOINTS; joint++) {
            course.end[joint] = told(motion->start[joint], command[joint]);
        }
        join_end();
        play(motion, 0U);
    } else {
        begin_anywhere(motion, is_linked);
    }
}

static bool is_over(void)
{
    return (turn.now != 0U) && (joined == join) && (course.left == 0U);
}

static void send(void)
{
    uint8_t joint;
    for (joint = 0U; joint < N_JOINTS; joint++) {
        sent[joint] = (uint16_t)((uint32_t)(command[joint] + HALF_TICK) >> TICK_PLACES);
    }
}

void player_reset(void)
{
    memset(&turn, 0, sizeof turn);
    phase = 0U;
    joined = 0U;
    join = 0U;
    has_begun = false;
    memcpy(command, start_pose, sizeof command);
    send();
}

void player_request(uint8_t motion)
{
    uint32_t lap;
    bool is_linked;
    turn.asked = motion;
    if (turn.now == 0U) {
        if (motion == 0U) {
            turn.served = 0U; /* nothing to leave: the next request counts as new */
        }
        if (following(&lap, &is_linked) != 0U) {
            go_on();
        }
    }
}

void player_frame(void)
{
    uint32_t lap;
    bool is_linked;
    uint8_t joint;
    if (is_over()) {
        go_on();
    }
    if (turn.now != 0U) {
        if (joined < join) {
            uint64_t share;
            joined++;
            share = minimum_jerk(((uint64_t)joined << PLACES) / join);
            for (joint = 0U; joint < N_JOINTS; joint++) {
                command[joint] = between(join_begin[joint], course.end[joint], share);
            }
        } else {
            row(command);
        }
    }
    send(); /* before going on: the pass may end a little after its last frame */
    if (is_over() && (following(&lap, &is_linked) == 0U)) {
        go_on();
    }
}

uint8_t player_playing(void)
{
    return turn.now;
}

/*
 * ROBOTIS e-Manual, protocol 1.0: header, broadcast ID, length, instruction, parameters, checksum. Each servo is
 * told its goal and its moving speed: nobody knows in what pose the robot is before its first motion begins.
 */
void player_packet(uint8_t *packet)
{
    static const uint8_t head[] = {0xFFU, 0xFFU, 0xFEU, PACKET_BYTES - 4U, 0x83U, 30U, 4U};
    const uint16_t speed = has_begun ? FULL_SPEED : GENTLE_SPEED;
    uint16_t at = (uint16_t)sizeof head;
    uint8_t sum = 0U;
    uint16_t k;
    uint8_t joint;
    memcpy(packet, head, sizeof head);
    for (joint = 0U; joint < N_JOINTS; joint++) {
        packet[at] = servos[joint].id;
        packet[at + 1U] = (uint8_t)(sent[joint] & 0xFFU);
        packet[at + 2U] = (uint8_t)(sent[joint] >> 8U);
        packet[at + 3U] = (uint8_t)(speed & 0xFFU);
        packet[at + 4U] = (uint8_t)(speed >> 8U);
        at = (uint16_t)(at + 5U);
    }
    for (k = 2U; k < at; k++) {
        sum = (uint8_t)(sum + packet[k]);
    }
    packet[at] = (uint8_t)~sum;
}
