#include "biped.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846
#define SLOWEST 1e-9           /* a slower velocity is 0 */
#define IN_PLACE 1e-9          /* so near is a foot where it stands at rest */
#define COSINE_TOLERANCE 1e-12 /* a stretched leg is not out of reach by rounding */

/* A motion in the plane, or a place on the ground: forward, left, turn to the left. */
typedef struct {
    double x, y, turn;
} planar_t;

typedef struct {
    double x, y, z;
} vector_t;

typedef struct {
    double roll, pitch;
} tilt_t;

/* The step that is being taken. */
typedef struct {
    planar_t motion;        /* of the trunk along its arc, in its own moving frame */
    planar_t begin[SIDES];  /* the soles at its beginning */
    planar_t lift_off;      /* the swinging sole there, in the trunk's frame at that time */
    planar_t touch_down;    /* the same where it comes down */
    planar_t landing;       /* where it comes down, in the trunk's frame at the beginning */
    double amplitude;       /* 0 to 1 */
    uint8_t swing;          /* the side that swings */
    uint16_t frame;         /* frames that are gone */
} step_t;

static const tilt_t upright = {0.0, 0.0};

static const biped_gait_t *gait;
static velocity_t requested, in_force;
static bool is_halting, is_at_rest;
static uint8_t n_steps;         /* since it stood, up to STEPS_TO_FULL_AMPLITUDE */
static uint8_t next_swing;
static planar_t feet[SIDES];    /* the soles after the step, in the trunk's frame then */
static step_t step;
static tilt_t excess_tilt;      /* of the trunk */
static tilt_t tilts[SIDES];     /* of the feet about the hips */

/* Arcs: the exponential of SE(2), and changes of frame */

static planar_t scaled(planar_t motion, double factor)
{
    const planar_t result = {factor * motion.x, factor * motion.y, factor * motion.turn};
    return result;
}

/* Where a body arrives that moves along an arc. */
static planar_t along_arc(planar_t motion)
{
    const double half = motion.turn / 2.0;
    const double ratio = (fabs(half) > 0.0) ? (sin(half) / half) : 1.0;
    const double along = cos(half) * ratio;
    const double across = sin(half) * ratio;
    const planar_t end = {
        (motion.x * along) - (motion.y * across),
        (motion.x * across) + (motion.y * along),
        motion.turn,
    };
    return end;
}

/* The first motion followed by the second, in the frame where the first ends. */
static planar_t chain(planar_t first, planar_t second)
{
    const double cosine = cos(first.turn);
    const double sine = sin(first.turn);
    const planar_t end = {
        (first.x + (cosine * second.x)) - (sine * second.y),
        (first.y + (sine * second.x)) + (cosine * second.y),
        first.turn + second.turn,
    };
    return end;
}

/* A place on the ground in the frame of a body that has moved. */
static planar_t in_moved_frame(planar_t place, planar_t move)
{
    const double cosine = cos(move.turn);
    const double sine = sin(move.turn);
    const double ahead = place.x - move.x;
    const double aside = place.y - move.y;
    const planar_t result = {
        (cosine * ahead) + (sine * aside),
        (cosine * aside) - (sine * ahead),
        place.turn - move.turn,
    };
    return result;
}

/* Velocities */

static double without_trace(double speed)
{
    return (fabs(speed) < SLOWEST) ? 0.0 : speed;
}

velocity_t biped_velocity(double forward, double left, double turn)
{
    const velocity_t velocity = {without_trace(forward), without_trace(left), without_trace(turn)};
    return velocity;
}

static bool is_still(const velocity_t *velocity)
{
    return (fabs(velocity->forward) + fabs(velocity->left) + fabs(velocity->turn)) <= 0.0;
}

static double share_of(double value, double greatest)
{
    if (fabs(value) <= 0.0) {
        return 0.0;
    }
    return (greatest > 0.0) ? (fabs(value) / greatest) : (double)INFINITY;
}

/* The size of a velocity as a share of the range, an ellipsoid. */
static double range_share(const velocity_t *velocity, double fastest_forward)
{
    return hypot(
        hypot(share_of(velocity->forward, fastest_forward), share_of(velocity->left, gait->fastest.left)),
        share_of(velocity->turn, gait->fastest.turn));
}

/* The nearest velocity in range; what the gait cannot do at all is left out. */
velocity_t biped_clipped(const velocity_t *velocity)
{
    const double fastest_forward = (velocity->forward < 0.0) ? gait->fastest_backward : gait->fastest.forward;
    const velocity_t possible = biped_velocity(
        (fastest_forward > 0.0) ? velocity->forward : 0.0,
        (gait->fastest.left > 0.0) ? velocity->left : 0.0,
        (gait->fastest.turn > 0.0) ? velocity->turn : 0.0);
    const double scale = 1.0 / fmax(range_share(&possible, fastest_forward), 1.0);
    return biped_velocity(scale * possible.forward, scale * possible.left, scale * possible.turn);
}

/* The velocity of the next step on the way to another: a foot that swings catches up half of a change. */
static velocity_t approach(const velocity_t *target)
{
    const velocity_t change = {
        target->forward - in_force.forward,
        target->left - in_force.left,
        target->turn - in_force.turn,
    };
    const double share = range_share(&change, gait->fastest.forward);
    double fraction;
    if (share <= SMALL_CHANGE_SHARE) {
        return *target;
    }
    fraction = fmin(1.0 / (share * gait->steps_to_full_speed), MAX_CHANGE_FRACTION);
    return biped_velocity(
        in_force.forward + (fraction * change.forward),
        in_force.left + (fraction * change.left),
        in_force.turn + (fraction * change.turn));
}

/* Steps */

static planar_t standing_foot(uint8_t side)
{
    const planar_t place = {gait->feet_ahead_m, biped_legs[side].outwards * gait->stance_m, 0.0};
    return place;
}

static void stand(void)
{
    feet[RIGHT] = standing_foot(RIGHT);
    feet[LEFT] = standing_foot(LEFT);
    in_force = biped_velocity(0.0, 0.0, 0.0);
    memset(tilts, 0, sizeof tilts);
    n_steps = 0U;
    next_swing = LEFT;
    is_at_rest = true;
}

static bool is_level(const tilt_t *tilt)
{
    return (fabs(tilt->roll) + fabs(tilt->pitch)) <= 0.0;
}

static bool is_in_place(uint8_t side)
{
    const planar_t place = standing_foot(side);
    return is_level(&tilts[side]) && (fabs(feet[side].x - place.x) <= IN_PLACE) && (fabs(feet[side].y - place.y) <= IN_PLACE) &&
           (fabs(feet[side].turn - place.turn) <= IN_PLACE);
}

/* The motion of the feet that moves the body by a velocity in one step, in spite of lag and slip. */
static planar_t compensated(const velocity_t *velocity)
{
    const double forward = velocity->forward * gait->step_s;
    const double left = velocity->left * gait->step_s;
    const double turn = velocity->turn * gait->step_s;
    const planar_t motion = {
        (gait->gain.forward * forward) + (gait->trim_forward_m_s * gait->step_s),
        (gait->gain.left * left) + (gait->trim_left_m_rad * turn),
        (gait->gain.turn * turn) + (gait->trim_turn_rad_m * left),
    };
    return motion;
}

/* Where the trunk is at a time of a step. On legs without a yaw it turns while both feet are down. */
static planar_t trunk_at(planar_t motion, double time)
{
    planar_t share = scaled(motion, time);
    if (!biped_legs[RIGHT].has_yaw) {
        const double turn_time = fmin(((1.0 - gait->swing_share) / 2.0) + TURN_OVERLAP, 0.5);
        const double begun = fmin(time / turn_time, 1.0);
        const double remaining = fmin((1.0 - time) / turn_time, 1.0);
        share.turn = motion.turn * (0.5 * ((begun + 1.0) - remaining));
    }
    return along_arc(share);
}

/* Plans the next step from where the feet are, by a motion of the trunk. */
static void plan_step(planar_t motion)
{
    const double lift_time = (1.0 - gait->swing_share) / 2.0;
    const planar_t on_two_feet = trunk_at(motion, lift_time);
    const planar_t move = along_arc(motion);
    const uint8_t swing = next_swing;
    const uint8_t stance = (uint8_t)(LEFT - swing);
    /* it will be beside the other foot in the middle of its next stance */
    const planar_t landing = chain(along_arc(scaled(motion, 0.5)), standing_foot(swing));
    n_steps = (uint8_t)((n_steps < STEPS_TO_FULL_AMPLITUDE) ? (n_steps + 1U) : n_steps);
    step.motion = motion;
    memcpy(step.begin, feet, sizeof step.begin);
    step.lift_off = in_moved_frame(feet[swing], on_two_feet);
    step.touch_down = chain(on_two_feet, landing);
    step.landing = chain(move, landing);
    step.amplitude = n_steps / (double)STEPS_TO_FULL_AMPLITUDE;
    step.swing = swing;
    step.frame = 0U;
    feet[stance] = in_moved_frame(feet[stance], move);
    feet[swing] = landing;
    if (!biped_legs[RIGHT].has_yaw) { /* the feet point ahead with the trunk */
        feet[stance].turn = 0.0;
        feet[swing].turn = 0.0;
    }
    next_swing = stance;
    is_at_rest = false;
}

static void take_step(const velocity_t *target)
{
    if (is_at_rest) { /* first the foot on the side to which the robot goes or turns */
        const bool goes_right = (target->left < 0.0) || ((target->left <= 0.0) && (target->turn < 0.0));
        next_swing = (uint8_t)(goes_right ? RIGHT : LEFT);
    }
    in_force = approach(target);
    plan_step(compensated(&in_force));
}

static void begin_step(void)
{
    const planar_t no_motion = {0.0, 0.0, 0.0};
    if (!is_halting || !is_still(&in_force)) {
        take_step(&requested);
        return;
    }
    plan_step(no_motion);
    if (is_in_place(RIGHT) && is_in_place(LEFT)) {
        stand();
    }
}

/* The share of its way that a swinging foot has gone, at constant acceleration in its ramps. */
static double swing_way(double progress)
{
    const double ramp = gait->swing_ramp;
    const double in_ramp = 1.0 / (2.0 * ramp * (1.0 - ramp));
    if (progress < ramp) {
        return in_ramp * progress * progress;
    }
    if (progress < (1.0 - ramp)) {
        return (progress - (ramp / 2.0)) / (1.0 - ramp);
    }
    return 1.0 - (in_ramp * (1.0 - progress) * (1.0 - progress));
}

/* The swinging sole relative to the trunk; before it lifts and after it lands it stays on the ground. */
static planar_t swinging_sole(double time, double progress, planar_t move)
{
    const double lift_time = (1.0 - gait->swing_share) / 2.0;
    const double way = swing_way(progress);
    planar_t sole = step.lift_off;
    if (time < lift_time) {
        return in_moved_frame(step.begin[step.swing], move);
    }
    if (time > (1.0 - lift_time)) {
        return in_moved_frame(step.landing, move);
    }
    sole.x += (step.touch_down.x - sole.x) * way;
    sole.y += (step.touch_down.y - sole.y) * way;
    sole.turn += (step.touch_down.turn - sole.turn) * way;
    return sole;
}

/* Legs in closed form */

static double dot(vector_t a, vector_t b)
{
    return (a.x * b.x) + (a.y * b.y) + (a.z * b.z);
}

static vector_t cross(vector_t a, vector_t b)
{
    const vector_t product = {(a.y * b.z) - (a.z * b.y), (a.z * b.x) - (a.x * b.z), (a.x * b.y) - (a.y * b.x)};
    return product;
}

static double wrapped(double angle)
{
    if (angle >= PI) {
        return angle - (2.0 * PI);
    }
    return (angle < -PI) ? (angle + (2.0 * PI)) : angle;
}

static double within_one(double value)
{
    return fmin(fmax(value, -1.0), 1.0);
}

static vector_t scaled_vector(vector_t vector, double factor)
{
    const vector_t result = {factor * vector.x, factor * vector.y, factor * vector.z};
    return result;
}

static vector_t moved(vector_t point, vector_t direction, double distance)
{
    const vector_t end = {
        point.x + (distance * direction.x),
        point.y + (distance * direction.y),
        point.z + (distance * direction.z),
    };
    return end;
}

/* The rotation from the level frame under the hips to the trunk's, which leans; the foot is tilted with its leg. */
typedef struct {
    double pitch_cosine, pitch_sine, roll_cosine, roll_sine;
} rotation_t;

static rotation_t rotation_of(tilt_t tilt)
{
    const double pitch = gait->lean_rad + tilt.pitch;
    const rotation_t rotation = {cos(pitch), sin(pitch), cos(tilt.roll), sin(tilt.roll)};
    return rotation;
}

static vector_t rotated(const rotation_t *rotation, double x, double y, double z)
{
    const double up = (rotation->pitch_sine * x) + (rotation->pitch_cosine * z);
    const vector_t result = {
        (rotation->pitch_cosine * x) - (rotation->pitch_sine * z),
        (rotation->roll_cosine * y) + (rotation->roll_sine * up),
        (rotation->roll_cosine * up) - (rotation->roll_sine * y),
    };
    return result;
}

static double directed(const biped_leg_t *leg, leg_joint_t joint, double angle)
{
    return leg->reversed[joint] ? -angle : angle;
}

/*
 * Writes the angles of a leg for a sole at a place on the ground and a height over it; returns false where the leg is
 * too short, and is stretched. The pitch axes are perpendicular to the foot's x and to the yaw's axis alike, which
 * gives the yaw. A leg without a yaw points straight ahead.
 */
static bool solve_leg(const biped_leg_t *leg, planar_t sole, double height, tilt_t tilt, double *angles)
{
    const double turn = leg->has_yaw ? sole.turn : 0.0;
    const double cosine = cos(turn);
    const double sine = sin(turn);
    const double hip_height = gait->hip_height_m - leg->sole[2]; /* over the ground */
    const rotation_t to_trunk = rotation_of(tilt);
    vector_t foot_ahead = rotated(&to_trunk, cosine, sine, 0.0);
    const vector_t foot_left = rotated(&to_trunk, -sine, cosine, 0.0);
    const vector_t foot_up = rotated(&to_trunk, 0.0, 0.0, 1.0);
    vector_t way = rotated(&to_trunk, sole.x, sole.y, height - hip_height); /* from the hips' middle */
    vector_t across, level, upward; /* the direction of the pitch axes, and two that span the leg's plane */
    double horizontal, pitch, x, z, bend_cosine, bend_sine, ratio, bent_x, bent_z, hip_pitch, knee, ankle_roll;
    bool is_reached;
    way = moved(way, foot_ahead, -leg->sole[0]); /* to the ankle */
    way = moved(way, foot_left, -leg->sole[1]);
    way = moved(way, foot_up, -leg->sole[2]);
    way.y -= leg->hip_left;
    if (leg->has_yaw) {
        way.x += leg->hip_ahead;
    } else {
        foot_ahead = (vector_t){1.0, 0.0, 0.0};
    }
    across = cross(foot_ahead, way);
    across = scaled_vector(across, 1.0 / sqrt(dot(across, across)));
    horizontal = hypot(across.x, across.y);
    level = scaled_vector((vector_t){across.y, -across.x, 0.0}, 1.0 / horizontal);
    upward = cross(level, across);
    if (leg->has_yaw) {
        way = moved(way, level, -leg->hip_ahead);
        pitch = atan2(-dot(foot_ahead, upward), dot(foot_ahead, level));
        ankle_roll = atan2(dot(foot_left, cross(foot_ahead, across)), dot(foot_left, across));
        angles[leg->hip_yaw] = directed(leg, HIP_YAW, atan2(-across.x, across.y));
    } else {
        pitch = atan2(dot(foot_up, level), dot(foot_up, upward));
        ankle_roll = -asin(within_one(dot(foot_up, across)));
    }
    angles[leg->ankle_roll] = directed(leg, ANKLE_ROLL, ankle_roll);
    angles[leg->hip_roll] = directed(leg, HIP_ROLL, atan2(across.z, horizontal));
    /* in the leg's plane, from pitch axis to pitch axis */
    x = dot(way, level);
    z = dot(way, upward) + leg->hip_drop;
    if (fabs(leg->ankle_drop) > 0.0) {
        x += leg->ankle_drop * sin(pitch);
        z += leg->ankle_drop * cos(pitch);
    }
    /* the bend of the knee, from thigh and shank in line, by the law of cosines */
    bend_cosine = ((x * x) + (z * z)) - (leg->thigh * leg->thigh) - (leg->shank * leg->shank);
    bend_cosine /= 2.0 * leg->thigh * leg->shank;
    is_reached = fabs(bend_cosine) <= (1.0 + COSINE_TOLERANCE);
    bend_cosine = within_one(bend_cosine);
    bend_sine = sqrt(1.0 - (bend_cosine * bend_cosine));
    knee = wrapped(acos(bend_cosine) + leg->straight_knee);
    /* the hip's pitch turns the bent leg from where it is at pitch 0 */
    ratio = leg->shank / leg->thigh;
    bent_x = leg->thigh_x + (ratio * ((leg->thigh_x * bend_cosine) + (leg->thigh_z * bend_sine)));
    bent_z = leg->thigh_z + (ratio * ((leg->thigh_z * bend_cosine) - (leg->thigh_x * bend_sine)));
    hip_pitch = atan2((x * bent_z) - (z * bent_x), (z * bent_z) + (x * bent_x));
    angles[leg->knee] = directed(leg, KNEE, knee);
    angles[leg->hip_pitch] = directed(leg, HIP_PITCH, hip_pitch);
    angles[leg->ankle_pitch] = directed(leg, ANKLE_PITCH, wrapped(pitch - hip_pitch - knee));
    return is_reached;
}

/* A tilt on its way to another at a speed. */
static tilt_t towards(tilt_t tilt, tilt_t target, double speed)
{
    const double change = speed * (gait->step_s / gait->step_frames);
    const tilt_t result = {
        tilt.roll + fmin(fmax(target.roll - tilt.roll, -change), change),
        tilt.pitch + fmin(fmax(target.pitch - tilt.pitch, -change), change),
    };
    return result;
}

/* Writes the angles of all joints in a frame of a step with tilted feet; returns false where a leg is too short. */
static bool solve_frame(double time, tilt_t swing_tilt, tilt_t stance_tilt, double *angles)
{
    const double lift_time = (1.0 - gait->swing_share) / 2.0;
    const double progress = fmin(fmax((time - lift_time) / gait->swing_share, 0.0), 1.0);
    const double sine = sin(PI * progress);
    const double bump = sine * sine * step.amplitude;
    const uint8_t stance = (uint8_t)(LEFT - step.swing);
    const planar_t move = trunk_at(step.motion, time);
    const planar_t swing_sole = swinging_sole(time, progress, move);
    const planar_t stance_sole = in_moved_frame(step.begin[stance], move);
    const biped_leg_t *stance_leg = &biped_legs[stance];
    bool is_reached;
    memcpy(angles, gait->rest, N_JOINTS * sizeof *angles);
    is_reached = solve_leg(&biped_legs[step.swing], swing_sole, gait->lift_m * bump, swing_tilt, angles);
    is_reached = solve_leg(stance_leg, stance_sole, 0.0, stance_tilt, angles) && is_reached;
    /* the standing leg's hip carries the weight */
    angles[stance_leg->hip_roll] += directed(stance_leg, HIP_ROLL, stance_leg->outwards * gait->hip_roll_rad * bump);
    return is_reached;
}

void biped_reset(const biped_gait_t *new_gait)
{
    gait = new_gait;
    requested = biped_velocity(0.0, 0.0, 0.0);
    is_halting = false;
    excess_tilt = upright;
    step.frame = gait->step_frames;
    stand();
}

void biped_standing_pose(double *angles)
{
    memcpy(angles, gait->rest, N_JOINTS * sizeof *angles);
    (void)solve_leg(&biped_legs[RIGHT], standing_foot(RIGHT), 0.0, upright, angles);
    (void)solve_leg(&biped_legs[LEFT], standing_foot(LEFT), 0.0, upright, angles);
}

void biped_request(const velocity_t *velocity)
{
    requested = *velocity;
    is_halting = false;
}

void biped_set_excess_tilt(double roll, double pitch)
{
    excess_tilt = (tilt_t){roll, pitch};
}

void biped_halt(void)
{
    requested = biped_velocity(0.0, 0.0, 0.0);
    is_halting = true;
}

bool biped_is_standing(void)
{
    return is_at_rest && (step.frame >= gait->step_frames);
}

void biped_frame(double *angles)
{
    const tilt_t levelling = {gait->foot_levelling * excess_tilt.roll, gait->foot_levelling * excess_tilt.pitch};
    tilt_t swing_tilt, stance_tilt;
    double time;
    if (step.frame >= gait->step_frames) {
        if (is_halting && is_at_rest) {
            biped_standing_pose(angles);
            return;
        }
        begin_step();
    }
    step.frame++;
    time = step.frame / (double)gait->step_frames;
    if (!is_at_rest) {
        swing_tilt = towards(tilts[step.swing], levelling, SWING_TILT_SPEED);
        stance_tilt = towards(tilts[LEFT - step.swing], upright, STANCE_TILT_SPEED);
        if (solve_frame(time, swing_tilt, stance_tilt, angles)) {
            tilts[step.swing] = swing_tilt;
            tilts[LEFT - step.swing] = stance_tilt;
            return;
        }
    }
    (void)solve_frame(time, upright, upright, angles);
}
