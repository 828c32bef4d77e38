/*
 * Yours: this file is written once and then left alone. unit.h has names for the bytes of the records, which stay
 * right when the chart changes: input[UNIT_IN_X] is the input x, state[UNIT_OUT_Y] the output y, each the first of its
 * bytes. A number of several bytes is read with memcpy(&number, &state[UNIT_OUT_Y], sizeof number).
 */
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

/* After each tick that did not fail, also when a computer gives the inputs: a record of states. */
void hook_tick(const uint8_t *state)
{
    (void)state;
}

/*
 * When outputs go back to the level they begin with: the chart has failed, or the computer that gave the inputs has
 * fallen silent or begins anew. Stop here whatever hook_tick has set going.
 */
void hook_stand()
{
}
