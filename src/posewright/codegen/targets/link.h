/*
 * The serial line between a board that runs a unit and a computer that feeds it: hardware in the loop.
 *
 * A frame is
 *
 *   0xA5 | kind | sequence | length, 2 bytes | payload | CRC, 2 bytes
 *
 * - 0xA5 begins a frame: it is no character of ASCII, so that text on the same line begins none, and neither
 *   0x00 nor 0xFF, which an idle or broken line and the packets of a Dynamixel bus are full of.
 * - length is the payload's, low byte first.
 * - The CRC is CRC-16/CCITT-FALSE (polynomial 0x1021, begun with 0xFFFF, not reflected; of "123456789" it is
 *   0x29B1; catalogue of CRC algorithms, "CRC-16/IBM-3740"), over kind up to payload, high byte first.
 *
 * The computer asks, the board answers with the question's sequence number and LINK_ANSWER in the kind:
 *
 *   kind        payload of the question   payload of the answer
 *   LINK_HELLO  none                      protocol u1, fresh u1, input bytes u2, state bytes u2,
 *                                         period u4 [us], the unit's name; low bytes first
 *   LINK_STEP   record of inputs          record of states
 *   LINK_RESET  none                      none: unit_reset was called
 *   any                                   LINK_REFUSED with a reason u1
 *
 * A board says hello without being asked once it has started; until the computer has asked for a hello of its
 * own it refuses everything else, so that a reset board is never mistaken for one that went on. A question
 * that comes again is answered with the answer that was kept: a unit takes at most one step for it. A damaged
 * frame is answered with silence, and the computer asks again. `fresh` is 1 until the first step.
 *
 * No interrupt may call these functions: let it queue what it receives, and the main loop hand it on.
 */
#ifndef POSEWRIGHT_LINK_H
#define POSEWRIGHT_LINK_H

#include <stdbool.h>
#include <stdint.h>

#define LINK_PROTOCOL 1U
#define LINK_START 0xA5U
#define LINK_ANSWER 0x80U

#define LINK_HELLO 0x01U
#define LINK_STEP 0x02U
#define LINK_RESET 0x03U
#define LINK_REFUSED 0x04U

#define LINK_NOT_GREETED 1U /* the computer has not asked for a hello since the board started */
#define LINK_BUSY 2U        /* the step before has not been answered yet */

/* Begin, and say hello. */
void link_init(void);

/* Take a byte that came over the line. */
void link_receive(uint8_t byte);

/*
 * Say whether a step is asked for, and if so copy its record of inputs (UNIT_INPUT_BYTES) and its sequence
 * number. It is to be answered with link_reply.
 */
bool link_take(uint8_t *input_record, uint8_t *sequence);

/* Answer a step with its record of states (UNIT_STATE_BYTES). */
void link_reply(uint8_t sequence, const uint8_t *state_record);

/* Say whether a computer has greeted the board since it started: it gives the inputs from then on. */
bool link_is_greeted(void);

/* Say whether unit_reset was called since this was asked last, for what else a board has to reset. */
bool link_was_reset(void);

/* The board's part: send a byte, waiting as long as the line needs. */
void link_put(uint8_t byte);

#endif
