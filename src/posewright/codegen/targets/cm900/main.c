/*
 * A unit on a CM-900: a tick every period with the inputs that hook_inputs finds, unless a computer has
 * greeted the board over the line and gives the ticks and inputs itself.
 *
 * Late ticks: unit_late is called for each period that went by without a tick, and none is caught up; where a
 * computer falls silent, or before the user has said how inputs are measured, nothing is sent. After a reset by the hardware watchdog nothing moves until a person
 * resets the board or a computer greets it. In all these cases the servos hold the pose of the last packet.
 *
 * The lamp is lit while all is well, blinks slowly while ticks are late and fast after the watchdog's reset or
 * where the unit has failed (status) or hooks_are_filled is false.
 */
#include "board.h"
#include "link.h"
#include "unit.h"

#ifdef UNIT_PERIOD_NS
#define PERIOD_US (UNIT_PERIOD_NS / 1000UL)
#define REST_NS (UNIT_PERIOD_NS % 1000UL)
#else
#define PERIOD_US UNIT_PERIOD_US
#define REST_NS 0UL
#endif

#define SILENT 4UL /* periods without a word from the computer */
#define FAST_BLINK_US 0x1FFFFUL /* 131 ms on, as long off */
#define SLOW_BLINK_US 0x7FFFFUL

void unit_late(void);

/* Behaviours count it; charts need not. */
__attribute__((weak)) void unit_late(void)
{
}

static uint8_t input[UNIT_INPUT_BYTES + 1U]; /* a unit may have no inputs, an array must have a size */
static uint8_t state[UNIT_STATE_BYTES];      /* its first byte is the status */
static uint32_t due_us; /* when the next tick is, or where a computer gives them, when the last was */
static uint32_t rest_ns; /* of periods that are no whole microseconds */
static bool is_late;

static void tick(void)
{
#ifdef UNIT_PACKET_BYTES
    static uint8_t packet[UNIT_PACKET_BYTES];
    unit_step(input, state);
    board_send_bus(packet, unit_packet(packet));
#else
    unit_step(input, state);
#endif
}

static void tick_for_computer(uint32_t now)
{
    uint8_t sequence = 0U;
    if (link_take(input, &sequence)) {
        due_us = now;
        is_late = false;
        tick();
        link_reply(sequence, state);
    }
    is_late = is_late || (((now - due_us) / SILENT) >= PERIOD_US);
}

static bool is_due(uint32_t now)
{
    if ((int32_t)(now - due_us) < 0) {
        return false;
    }
    rest_ns += REST_NS;
    due_us += PERIOD_US + (rest_ns / 1000UL);
    rest_ns %= 1000UL;
    return true;
}

static void tick_alone(uint32_t now)
{
    if (!is_due(now)) {
        return;
    }
    is_late = false;
    while (is_due(now)) {
        is_late = true;
        unit_late();
    }
    hook_inputs(input);
    tick();
    hook_tick(state);
}

static void show(uint32_t now, bool is_waiting)
{
    bool is_lit = true;
    if (board_was_hung() || is_waiting || (state[0] != 0U)) {
        is_lit = (now & (FAST_BLINK_US + 1UL)) != 0UL;
    } else if (is_late) {
        is_lit = (now & (SLOW_BLINK_US + 1UL)) != 0UL;
    }
    board_lamp(is_lit);
}

int main(void)
{
    bool is_lent = false; /* to a computer */
    board_init();
    hook_begin();
    unit_reset();
    link_init();
    due_us = board_time() + PERIOD_US;
    for (;;) {
        uint8_t byte = 0U;
        uint32_t now = board_time();
        while (board_receive(&byte)) {
            link_receive(byte);
        }
        if (link_is_greeted() && !is_lent) {
            is_lent = true;
            due_us = now;
            unit_reset();
        }
        if (is_lent) {
            tick_for_computer(now);
        } else if (hooks_are_filled && !board_was_hung()) {
            tick_alone(now);
        }
        show(now, !is_lent && !hooks_are_filled);
        board_feed_watchdog();
    }
}
