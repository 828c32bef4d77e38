/*
 * A unit alone on an ATmega328P: the emulator writes a record of inputs into the mailbox whenever the processor
 * stands at pil_wait, lets it go on, and reads the record of states when it stands there again.
 */
#include <stdint.h>

#include "unit.h"

uint8_t pil_input[UNIT_INPUT_BYTES + 1U]; /* one more: a chart may have no inputs at all */
uint8_t pil_state[UNIT_STATE_BYTES];

void pil_wait(void);

/* Not a leaf the compiler may see through: both records may have changed when it returns. */
void __attribute__((noinline)) pil_wait(void)
{
    __asm__ volatile("" ::: "memory");
}

int main(void)
{
    unit_reset();
    for (;;) {
        pil_wait();
        unit_step(pil_input, pil_state);
    }
}
