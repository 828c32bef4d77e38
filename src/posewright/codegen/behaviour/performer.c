#include "performer.h"

#include <math.h>

#define TICK 65536.0

/* What the frames come from. */
typedef enum {
    MOTION,
    JOIN, /* the way to a gait's standing pose */
    GAIT,
    HALT /* a gait that comes to stand */
} source_t;

static source_t source;
static uint8_t action;       /* asked for */
static velocity_t velocity;  /* of that gait */
static uint8_t gait;         /* that is gone to, walked or halted */
static uint8_t frames_left;  /* before it looks what is due, and a walk reacts to the sensors */

static bool is_gait(uint8_t number)
{
    return number > N_MOTIONS;
}

static const int32_t *positions_of(const double *angles)
{
    static int32_t positions[N_JOINTS];
    uint8_t joint;
    for (joint = 0U; joint < N_JOINTS; joint++) {
        const servo_scale_t *scale = &servo_scales[joint];
        const double ticks = (angles[joint] * scale->ticks_per_rad) + scale->centre;
        positions[joint] = (int32_t)rint(fmin(fmax(ticks, scale->first), scale->last) * TICK);
    }
    return positions;
}

static const int32_t *standing_pose(void)
{
    static double angles[N_JOINTS];
    biped_standing_pose(angles);
    return positions_of(angles);
}

static bool has_halted(void)
{
    return (source == HALT) && biped_is_standing();
}

/* Hands over to the player, and asks it for the present action. */
static void leave_gait(void)
{
    player_put(standing_pose());
    source = MOTION;
    player_request(is_gait(action) ? 0U : action);
}

static void begin_join(void)
{
    gait = action;
    walker_reset(&gaits[gait - N_MOTIONS - 1U]);
    player_join(standing_pose());
    source = JOIN;
}

static void begin_gait(void)
{
    if (action == gait) {
        walker_request(&velocity);
        source = GAIT;
    } else { /* something else was asked for meanwhile */
        leave_gait();
    }
}

/* Changes what the frames come from where that is due, and lets a walk react to the sensors. */
static void go_on(const attitude_t *attitude, double now)
{
    if (has_halted()) {
        leave_gait();
    }
    if ((source == MOTION) && is_gait(action) && (player_playing() == 0U)) {
        begin_join();
    }
    if ((source == JOIN) && !player_is_joining()) {
        begin_gait();
    }
    frames_left = MAX_BLOCK_FRAMES;
    if ((source == GAIT) || (source == HALT)) {
        walker_react(attitude, now);
        frames_left = walker_reads_sensors() ? REACTION_FRAMES : MAX_BLOCK_FRAMES;
    }
}

void performer_reset(void)
{
    player_reset();
    source = MOTION;
    action = 0U;
    frames_left = 0U;
}

void performer_interrupt(void)
{
    player_interrupt();
    source = MOTION;
}

void performer_request(uint8_t new_action, const velocity_t *new_velocity)
{
    action = new_action;
    velocity = *new_velocity;
    if (source == MOTION) {
        player_request(is_gait(action) ? 0U : action);
    } else if ((source != JOIN) && (action == gait)) {
        walker_request(&velocity);
        source = GAIT;
    } else if (source == GAIT) {
        walker_halt();
        source = HALT;
    }
    frames_left = 0U;
}

void performer_frame(const attitude_t *attitude, double now)
{
    static double angles[N_JOINTS];
    if ((frames_left == 0U) || ((source == JOIN) && !player_is_joining())) {
        go_on(attitude, now);
    }
    frames_left--;
    if (source == MOTION) {
        player_frame();
    } else if (source == JOIN) {
        player_join_frame();
    } else {
        biped_frame(angles);
        player_put(positions_of(angles));
    }
}

uint8_t performer_playing(void)
{
    if (source == MOTION) {
        return player_playing();
    }
    return has_halted() ? 0U : gait;
}
