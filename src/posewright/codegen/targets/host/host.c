/* Runs a unit over many records in one go, for whoever loads it as a library. */
#include "host.h"

void host_run(const uint8_t *inputs, uint32_t n, uint8_t *states)
{
    uint32_t tick;

    for (tick = 0U; tick < n; tick++) {
        unit_step(inputs, states);
        inputs += UNIT_INPUT_BYTES;
        states += UNIT_STATE_BYTES;
    }
}
