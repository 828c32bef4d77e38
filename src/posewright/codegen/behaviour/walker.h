/* The walker: a gait with its feedback, which corrects it by the trunk's attitude every few frames. */
#ifndef WALKER_H
#define WALKER_H

#include "biped.h"

/* What the sensors tell of the trunk; not a number while they do not. */
typedef struct {
    double roll;    /* to the right */
    double pitch;   /* forward */
    double heading; /* to the left */
} attitude_t;

/* Stands, as before the first step of a gait. */
void walker_reset(const biped_gait_t *gait);

/* Asks for a velocity from the next step on; one beyond the range is scaled down. */
void walker_request(const velocity_t *velocity);

/* Comes to stand, and stays so until the next request. */
void walker_halt(void);

/* Whether the gait has feedback. */
bool walker_reads_sensors(void);

/* Corrects the walk; `now` is a time in seconds. */
void walker_react(const attitude_t *attitude, double now);

#endif /* WALKER_H */
