/* Runs a unit from standard input to standard output: 'R' resets it, 'S' and a record of inputs is a tick. */

#include <stdio.h>

#include "unit.h"

int main(void)
{
    static uint8_t input[UNIT_INPUT_BYTES + 1U];
    static uint8_t state[UNIT_STATE_BYTES];
    int what;

    unit_reset();
    while ((what = getchar()) != EOF) {
        if (what == 'R') {
            unit_reset();
            continue;
        }
        if (fread(input, 1U, UNIT_INPUT_BYTES, stdin) != UNIT_INPUT_BYTES) {
            return 1;
        }
        unit_step(input, state);
        (void)fwrite(state, 1U, UNIT_STATE_BYTES, stdout);
    }
    return 0;
}
