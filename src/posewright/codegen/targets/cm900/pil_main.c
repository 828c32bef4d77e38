/* Processor in the loop: the unit as it is flashed, called by whoever drives the emulated processor. */
#include "unit.h"

int main(void)
{
    for (;;) {
    }
}

void pil_run(uint32_t steps, const uint8_t *inputs, uint8_t *states);

/* Take a step for every record of inputs and keep the records of states, one behind the other. */
void pil_run(uint32_t steps, const uint8_t *inputs, uint8_t *states)
{
    for (uint32_t k = 0U; k < steps; k++) {
        unit_step(inputs, states);
        inputs += UNIT_INPUT_BYTES;
        states += UNIT_STATE_BYTES;
    }
}
