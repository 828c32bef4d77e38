/* Vector table and start of a program for the CM-900: no library takes part. */
#include <stdint.h>

#include "board.h"

extern uint32_t data_begin, data_end, data_image, bss_begin, bss_end, stack_top; /* cm900.ld */

int main(void);
void reset_handler(void);

/* Nothing here is meant to raise an exception: the hardware watchdog ends this and resets the board. */
static void fault_handler(void)
{
    for (;;) {
    }
}

void reset_handler(void)
{
    uint32_t *from = &data_image;
    __asm__ volatile("cpsid i" ::: "memory"); /* whatever interrupts the bootloader has left on */
    for (uint32_t *to = &data_begin; to != &data_end; to++) {
        *to = *from;
        from++;
    }
    for (uint32_t *to = &bss_begin; to != &bss_end; to++) {
        *to = 0U;
    }
    (void)main();
    fault_handler();
}

struct vectors {
    uint32_t *stack;
    void (*handlers[15])(void);
};

extern const struct vectors vector_table;

/* ARMv7-M ARM, section B1.5.2: interrupts stay off, so that the exceptions of the core are all there is. */
__attribute__((section(".vectors"), used)) const struct vectors vector_table = {
    &stack_top,
    {reset_handler, fault_handler, fault_handler, fault_handler, fault_handler, fault_handler, 0, 0, 0, 0,
     fault_handler, fault_handler, 0, fault_handler, fault_handler},
};
