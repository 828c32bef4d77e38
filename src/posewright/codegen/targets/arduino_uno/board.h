/*
 * The board around a unit: its tick, its serial line, its pins. board_begin and board_loop are for setup and loop.
 *
 * Outputs stand, which is the level they begin with (board_pins_kinds.h),
 * - before the first tick;
 * - once the chart has failed, or a computer that gave the inputs has been silent for 2 s (4 periods where those are
 *   longer): a damaged frame is no word from it. They stand until a computer greets or resets the board, or somebody
 *   presses its reset button; it never goes on by itself;
 * - in the same way when a tick has hung for 4 s and the watchdog has reset the board.
 */
#ifndef BOARD_H
#define BOARD_H

#include <Arduino.h>

extern "C" {
#include "link.h"
#include "unit.h"
}

void board_begin();
void board_loop();

/* board_wiring.cpp, generated: pins to records and back. */
void wiring_begin();
void wiring_stand();                       /* outputs to the level they begin with */
void wiring_watch();                       /* note events: edges of their pins */
void wiring_read(uint8_t *input);          /* a record of inputs, with the events since the last one */
void wiring_write(const uint8_t *state);   /* outputs to their pins */
bool wiring_changed(const uint8_t *state); /* whether other states are active than when this was asked last */
void wiring_tell(const uint8_t *state);    /* active states and outputs, for people */

/* board_hooks.cpp, yours. */
void hook_begin();
void hook_inputs(uint8_t *input);
void hook_tick(const uint8_t *state);
void hook_stand();

#endif
