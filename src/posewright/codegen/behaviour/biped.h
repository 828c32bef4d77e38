/* The walk of a biped: the angles of all joints, frame by frame, from a velocity; radians, metres, seconds. */
#ifndef BIPED_H
#define BIPED_H

#include <stdbool.h>
#include <stdint.h>

#include "gaits.h"
#include "motions.h"

#define RIGHT 0U
#define LEFT 1U
#define SIDES 2U

/* A velocity of the trunk over the ground, in the trunk's frame. */
typedef struct {
    double forward; /* m/s */
    double left;    /* m/s */
    double turn;    /* rad/s, to the left */
} velocity_t;

/* A gait of a robot; the names are those of its document. */
typedef struct {
    uint16_t step_frames;  /* of a step of one foot, half a cycle */
    double step_s;
    double swing_share;
    double swing_ramp;
    double lift_m;
    double hip_height_m;   /* of the hips over the ankles */
    double lean_rad;
    double feet_ahead_m;
    double stance_m;
    double hip_roll_rad;
    velocity_t fastest;    /* forward, to either side, turning either way */
    double fastest_backward;
    double steps_to_full_speed;
    velocity_t gain;       /* the feet move so many times as far as the body should */
    double trim_forward_m_s;
    double trim_left_m_rad;
    double trim_turn_rad_m;
    double heading_1_s;    /* the gains of the feedback; 0 is none */
    double max_heading_turn_rad_s;
    double foot_levelling;
    double rocking_rad;
    const double *rest;    /* of all joints, for those outside of the legs */
} biped_gait_t;

/* The joints of a leg from the trunk to the foot. */
typedef enum { HIP_YAW, HIP_ROLL, HIP_PITCH, KNEE, ANKLE_PITCH, ANKLE_ROLL, LEG_JOINTS } leg_joint_t;

/* A leg with all joints at 0; in its own plane, x is forward and z up. */
typedef struct {
    double hip_left;       /* of the trunk's middle plane is the yaw's axis */
    double hip_ahead;      /* so far in front of the yaw's axis is the pitch axis */
    double hip_drop;       /* so far under the hip's roll axis is its pitch axis */
    double thigh_x, thigh_z; /* from the hip's pitch axis to the knee */
    double thigh, shank;   /* lengths */
    double straight_knee;  /* the knee's angle with thigh and shank in line */
    double ankle_drop;     /* so far under the ankle's pitch axis is its roll axis */
    double sole[3];        /* from there to the middle of the sole, in the foot's frame */
    double outwards;       /* 1 for the left leg, -1 for the right */
    bool has_yaw;
    uint8_t hip_yaw, hip_roll, hip_pitch, knee, ankle_pitch, ankle_roll; /* numbers of its joints */
    bool reversed[LEG_JOINTS]; /* those that turn against yaw to the left, roll to the right, pitch forward */
} biped_leg_t;

extern const biped_leg_t biped_legs[SIDES];

/* A velocity; less than a nanometre or nanoradian a second is 0. */
velocity_t biped_velocity(double forward, double left, double turn);

/* Stands, as before the first step of a gait. */
void biped_reset(const biped_gait_t *gait);

/* Writes the pose before the first step and after the last, of all joints. */
void biped_standing_pose(double *angles);

/* The nearest velocity in range: the same direction, slower if necessary. */
velocity_t biped_clipped(const velocity_t *velocity);

/* Asks for a velocity in range from the next step on. */
void biped_request(const velocity_t *velocity);

/* The trunk's tilt beyond that of an undisturbed walk: the feet are levelled by it from now on. */
void biped_set_excess_tilt(double roll, double pitch);

/* Comes to stand, and stays so until the next request. */
void biped_halt(void);

/* Whether it stood in the last frame, as before the first. */
bool biped_is_standing(void);

/* Goes on by one frame, and writes the angles of all joints. */
void biped_frame(double *angles);

#endif /* BIPED_H */
