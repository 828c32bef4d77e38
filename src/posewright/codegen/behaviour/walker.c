#include "walker.h"

#include <math.h>

#define TURN 6.28318530717958647692

static const biped_gait_t *gait;
static velocity_t velocity;     /* asked for */
static bool is_halting;

/* The heading that is asked for: that at the start and all turns since. */
static bool has_heading;
static double heading;
static double heading_time;
static double turn_rad_s;       /* asked for since then */
static double correction_rad_s;

/* The mean tilt, which is usual: a slope, or a sensor that is not level. */
static bool has_mean;
static double first_time, mean_time; /* of the first and the last reading */
static double mean_roll, mean_pitch;

void walker_reset(const biped_gait_t *new_gait)
{
    gait = new_gait;
    biped_reset(gait);
    velocity = biped_velocity(0.0, 0.0, 0.0);
    is_halting = false;
    has_heading = false;
    correction_rad_s = 0.0;
    has_mean = false;
}

void walker_request(const velocity_t *new_velocity)
{
    velocity = biped_clipped(new_velocity);
    is_halting = false;
    biped_request(&velocity);
}

void walker_halt(void)
{
    is_halting = true;
    biped_halt();
}

bool walker_reads_sensors(void)
{
    return (gait->heading_1_s > 0.0) || (gait->foot_levelling > 0.0);
}

/* Adds the turn that leads back to the heading asked for. */
static void hold_heading(double measured, double now)
{
    velocity_t corrected;
    if (isfinite(measured)) {
        const double max_error = gait->max_heading_turn_rad_s / gait->heading_1_s;
        double error;
        heading = has_heading ? (heading + (turn_rad_s * (now - heading_time))) : measured;
        has_heading = true;
        heading_time = now;
        turn_rad_s = velocity.turn;
        error = fmin(fmax(remainder(heading - measured, TURN), -max_error), max_error);
        heading = measured + error; /* no farther than the correction answers */
        correction_rad_s = gait->heading_1_s * error;
    }
    corrected = biped_velocity(velocity.forward, velocity.left, velocity.turn + correction_rad_s);
    corrected = biped_clipped(&corrected);
    biped_request(&corrected);
}

static double beyond_rocking(double deviation)
{
    return copysign(fmax(fabs(deviation) - gait->rocking_rad, 0.0), deviation);
}

static void level_feet(double roll, double pitch, double now)
{
    if (!isfinite(roll) || !isfinite(pitch)) {
        return;
    }
    if (has_mean) {
        const double averaged_s = fmin(now - first_time, MEAN_TIME_S);
        const double weight = (averaged_s > 0.0) ? ((now - mean_time) / averaged_s) : 0.0;
        mean_roll += weight * (roll - mean_roll);
        mean_pitch += weight * (pitch - mean_pitch);
    } else {
        first_time = now;
        mean_roll = roll;
        mean_pitch = pitch;
    }
    has_mean = true;
    mean_time = now;
    biped_set_excess_tilt(beyond_rocking(roll - mean_roll), beyond_rocking(pitch - mean_pitch));
}

void walker_react(const attitude_t *attitude, double now)
{
    if ((gait->heading_1_s > 0.0) && !is_halting) {
        hold_heading(attitude->heading, now);
    }
    if (gait->foot_levelling > 0.0) {
        level_feet(attitude->roll, attitude->pitch, now);
    }
    if (is_halting) { /* a robot that lies would level its feet for ever, and never come to stand */
        biped_set_excess_tilt(0.0, 0.0);
    }
}
