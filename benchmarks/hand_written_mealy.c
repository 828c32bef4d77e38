/* The document's machine as a person would write it, in the manner of StateSmith's output: one function a
 * state, each with its transitions, and a switch that calls them. The header is the generated one. */
#include "obstacle_mealy.h"

static void stopped_do(obstacle_mealy_t *sm, const obstacle_mealy_inputs_t *in)
{
    if (!in->right && !in->left && !in->front) {
        sm->out.s1 = true;
        sm->out.s0 = true;
        sm->state = OBSTACLE_MEALY_STATE_WALKING;
    } else if (!in->right && !in->left && in->front) {
        sm->out.s1 = false;
        sm->out.s0 = true;
        sm->state = OBSTACLE_MEALY_STATE_TURNING_LEFT;
    } else if (!in->right && in->left) {
        sm->out.s1 = true;
        sm->out.s0 = false;
        sm->state = OBSTACLE_MEALY_STATE_TURNING_RIGHT;
    } else {
        sm->out.s1 = false;
        sm->out.s0 = true;
        sm->state = OBSTACLE_MEALY_STATE_TURNING_LEFT;
    }
}

static void turning_left_do(obstacle_mealy_t *sm, const obstacle_mealy_inputs_t *in)
{
    if (!in->right && !in->left && !in->front) {
        sm->out.s1 = true;
        sm->out.s0 = true;
        sm->state = OBSTACLE_MEALY_STATE_WALKING;
    } else if (!in->right && in->left) {
        sm->out.s1 = true;
        sm->out.s0 = false;
        sm->state = OBSTACLE_MEALY_STATE_TURNING_RIGHT;
    } else {
        sm->out.s1 = false;
        sm->out.s0 = true;
    }
}

static void turning_right_do(obstacle_mealy_t *sm, const obstacle_mealy_inputs_t *in)
{
    if (!in->right && !in->left && !in->front) {
        sm->out.s1 = true;
        sm->out.s0 = true;
        sm->state = OBSTACLE_MEALY_STATE_WALKING;
    } else if (in->right && !in->left) {
        sm->out.s1 = false;
        sm->out.s0 = true;
        sm->state = OBSTACLE_MEALY_STATE_TURNING_LEFT;
    } else {
        sm->out.s1 = true;
        sm->out.s0 = false;
    }
}

static void walking_do(obstacle_mealy_t *sm, const obstacle_mealy_inputs_t *in)
{
    if (!in->right && !in->left && !in->front) {
        sm->out.s1 = true;
        sm->out.s0 = true;
    } else if (in->left) {
        sm->out.s1 = true;
        sm->out.s0 = false;
        sm->state = OBSTACLE_MEALY_STATE_TURNING_RIGHT;
    } else {
        sm->out.s1 = false;
        sm->out.s0 = true;
        sm->state = OBSTACLE_MEALY_STATE_TURNING_LEFT;
    }
}

void obstacle_mealy_init(obstacle_mealy_t *sm)
{
    sm->out.s1 = false;
    sm->out.s0 = false;
    sm->state = OBSTACLE_MEALY_STATE_STOPPED;
}

uint8_t obstacle_mealy_step(obstacle_mealy_t *sm, const obstacle_mealy_inputs_t *in)
{
    switch (sm->state) {
        case OBSTACLE_MEALY_STATE_STOPPED:
            stopped_do(sm, in);
            break;
        case OBSTACLE_MEALY_STATE_TURNING_LEFT:
            turning_left_do(sm, in);
            break;
        case OBSTACLE_MEALY_STATE_TURNING_RIGHT:
            turning_right_do(sm, in);
            break;
        case OBSTACLE_MEALY_STATE_WALKING:
            walking_do(sm, in);
            break;
        default:
            break;
    }
    return OBSTACLE_MEALY_OK;
}
