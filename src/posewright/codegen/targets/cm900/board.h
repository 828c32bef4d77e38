/*
 * What the board offers: time, lamp, pins, analogue inputs and two serial lines.
 *
 * Pins of a CM-900 Rev 1.0, from the pin map of ROBOTIS' own library (CM900.cpp and dxl_constants.h in
 * github.com/robotis-pandora/ROBOTIS-OpenCM and ROBOTIS_CM9_Series; the same in libmaple's board cm900):
 *
 *   PB6, PB7  Dynamixel bus, USART1 remapped (D20, D21)     PB5  its direction, 1 = sending (D19)
 *   PB2       lamp, lit by 0 (D16)                          PA2, PA3  USART2, the 4-pin plug for BT-110,
 *                                                                     ZIG-110 and LN-101 (D2, D3)
 *
 * Not certain: engineering samples (revisions A to C) switch their bus with two pins, PB4 to send and PB5 to
 * receive, 1 = on; for those change bus_direction in board.c.
 */
#ifndef POSEWRIGHT_CM900_BOARD_H
#define POSEWRIGHT_CM900_BOARD_H

#include <stdbool.h>
#include <stdint.h>

#include "unit.h"

#ifdef UNIT_LINE_BAUD
#define BOARD_LINE_BAUD UNIT_LINE_BAUD
#else
#define BOARD_LINE_BAUD 115200UL  /* of the serial line to a computer */
#endif
#define BOARD_BUS_BAUD 1000000UL  /* AX-12 e-manual: baud rate 1 is 1 Mbps */

enum board_port { BOARD_PORT_A, BOARD_PORT_B, BOARD_PORT_C };

/* Nibbles of GPIOx_CRL and CRH, RM0008 table 20. */
enum board_pin_mode {
    BOARD_PIN_ANALOGUE = 0x0,
    BOARD_PIN_OUTPUT = 0x2,
    BOARD_PIN_INPUT = 0x4,
    BOARD_PIN_ALTERNATE = 0xB,
    BOARD_PIN_PULLED = 0x8 /* input with a pull-up where its output bit is 1, else a pull-down */
};

void board_init(void);

/* Return how long the board has run [us]; it starts again at 0 after 71 minutes. Ask once a second at least. */
uint32_t board_time(void);

/* Tell the hardware watchdog that all is well; it resets the board where it hears nothing for 0.6 to 1.2 s. */
void board_feed_watchdog(void);

/* Say whether the hardware watchdog has reset the board, and not a person or the power. */
bool board_was_hung(void);

void board_lamp(bool is_lit);

void board_pin_mode(enum board_port port, uint8_t pin, enum board_pin_mode mode);
bool board_pin(enum board_port port, uint8_t pin);
void board_set_pin(enum board_port port, uint8_t pin, bool value);

/* Measure a channel, 0..4095 for 0..3.3 V: 0-7 are PA0-PA7, 8 and 9 are PB0 and PB1; 2 and 3 are the line's. */
uint16_t board_analogue(uint8_t channel);

/* Give the next byte that came over the line from a computer. */
bool board_receive(uint8_t *byte);

/* Send a packet over the Dynamixel bus; it returns when its last bit has left. */
void board_send_bus(const uint8_t *packet, uint16_t bytes);

/*
 * The user's part, board_hooks.c: whether the inputs are what the unit means by them (alone the board does not
 * move before they are), make pins ready, fill a record of inputs, do what a record of states says.
 */
extern const bool hooks_are_filled;
void hook_begin(void);
void hook_inputs(uint8_t *input);
void hook_tick(const uint8_t *state);

#endif
