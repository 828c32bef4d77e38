/* The page player: plays motions by number, frame by frame, in whole numbers. */
#ifndef PLAYER_H
#define PLAYER_H

#include <stdbool.h>
#include <stdint.h>

#include "motions.h"

#define HELD (-1) /* in a table: the joint stays as it was */

/* A keyframe; times are counted since the pass began, in parts of a frame. */
typedef struct {
    uint32_t arrives; /* when it is reached */
    uint32_t ends;    /* when the pause after it is over */
    uint32_t accel;   /* share of the way's time to speed up in, 1 << 28 is all of it */
    uint8_t easing;   /* 0 linear, 1 half a cosine, 2 trapezoid */
} keyframe_t;

/* A motion. */
typedef struct {
    const keyframe_t *keyframes;
    const int32_t *positions; /* of all joints, keyframe by keyframe, 1 << 16 is a servo's tick */
    const int32_t *start;     /* where it is to be started from; NULL for anywhere */
    uint32_t length;          /* of a pass, in parts of a frame */
    uint32_t first_way;       /* whole frames before the first keyframe */
    uint32_t repeat;          /* how often; 0 for ever */
    uint8_t n_keyframes;      /* at most 255 */
    uint8_t next;             /* number of the motion that follows; 0 none */
    uint8_t exit;             /* number of the motion it is left through; 0 none */
} motion_t;

/* A joint's servo. */
typedef struct {
    uint32_t join_frames; /* frames that a join takes for each tick of the way, 1 << 28 is one */
    uint32_t touching;    /* how near two positions are one, 1 << 16 is a tick */
    uint32_t step;        /* farthest way in a frame without load, 1 << 16 is a tick */
    uint32_t asked_step;  /* half of it: for a motion that was asked for in any pose */
    uint8_t id;           /* on the bus */
} servo_t;

extern const servo_t servos[N_JOINTS];
extern const int32_t start_pose[N_JOINTS];
extern const motion_t motions[N_MOTIONS + 1U]; /* 0 is none */

/* Stands in the start pose. */
void player_reset(void);

/* Asks for a motion, or with 0 for standing still where the present one ends. */
void player_request(uint8_t motion);

/* Goes on by one frame. */
void player_frame(void);

/* Returns the motion that is being played, or gone to; 0 while the robot stands still. */
uint8_t player_playing(void);

/* Writes the sync write of the last frame's goal positions, PACKET_BYTES; gentle until a motion begins. */
void player_packet(uint8_t *packet);

#endif /* PLAYER_H */
