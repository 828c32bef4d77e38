/* Yours: this file is written once and then left alone. */
#include "board.h"

/* After the pins are set up, before the first tick. */
void hook_begin()
{
}

/* Before each tick of the board's own clock: a record of inputs, as the pins gave it, may be changed. */
void hook_inputs(uint8_t *input)
{
    (void)input;
}

/* After each tick, also when a computer gives the inputs: a record of states. */
void hook_tick(const uint8_t *state)
{
    (void)state;
}
