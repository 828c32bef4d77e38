/* The performer: plays motions and walks gaits, one after the other, without a jump between them. */
#ifndef PERFORMER_H
#define PERFORMER_H

#include "player.h"
#include "walker.h"

/* From joint angles to a servo's ticks. */
typedef struct {
    double ticks_per_rad;
    double centre; /* the tick at 0 rad */
    double first, last;
} servo_scale_t;

extern const servo_scale_t servo_scales[N_JOINTS];
extern const biped_gait_t gaits[]; /* their numbers go on after those of the motions, from N_MOTIONS + 1 */

/* Stands in the start pose. */
void performer_reset(void);

/* Stands where the last frame was, in the middle of a motion or a step, with none asked for. */
void performer_interrupt(void);

/*
 * Asks for a motion or a gait, or with 0 for standing still, at a tick of the chart. A gait begins in its standing
 * pose, after the pass of a motion that is played; what follows a gait waits until it stands.
 */
void performer_request(uint8_t action, const velocity_t *velocity);

/* Goes on by one frame; `now` is a time in seconds. A walk reacts to the attitude every few frames. */
void performer_frame(const attitude_t *attitude, double now);

/* Returns the motion or gait that is being performed; 0 while the robot stands still. */
uint8_t performer_playing(void);

#endif /* PERFORMER_H */
