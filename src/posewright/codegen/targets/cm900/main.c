/*
 * A unit on a CM-900: it takes a tick every period with the inputs that board_read finds, unless a computer has
 * greeted the board over the line and gives the ticks and inputs itself.
 *
 * Late ticks: unit_late is called where a period was missed altogether, or where the computer has been silent
 * for LATE periods; a behaviour holds its pose then. After a reset by the hardware watchdog nothing moves until
 * a person resets the board or a computer greets it. The servos keep their last goal in all these cases.
 *
 * The lamp is lit while all is well, blinks slowly while ticks are late and fast after the watchdog's reset or
 * where the unit has failed (status).
 */
#include "board.h"
#include "link.h"
#include "unit.h"

#define LATE 4U
#define FAST_BLINK_US 0x1FFFFUL /* 131 ms on, as long off */
#define SLOW_BLINK_US 0x7FFFFUL

void unit_late(void);

/* Behaviours define their own. */
__attribute__((weak)) void unit_late(void)
{
}

static uint8_t input[UNIT_INPUT_BYTES + 1U]; /* a unit may have no inputs, an array must have a size */
static uint8_t state[UNIT_STATE_BYTES];      /* its first byte is the status */
static uint32_t last_tick_us;
static bool is_late;

static void send_packet(void)
{
#ifdef UNIT_PACKET_BYTES
    static uint8_t packet[UNIT_PACKET_BYTES];
    board_send_bus(packet, unit_packet(packet));
#endif
}

static void hold(void)
{
    if (!is_late) {
        is_late = true;
        unit_late();
        send_packet();
    }
}

static void tick_for_computer(uint32_t waited_us)
{
    uint8_t sequence = 0U;
    if (link_was_reset()) {
        is_late = false;
        last_tick_us = board_time();
    } else if (link_take(input, &sequence)) {
        last_tick_us = board_time();
        is_late = false;
        unit_step(input, state);
        send_packet();
        link_reply(sequence, state);
    } else if ((waited_us / LATE) >= UNIT_PERIOD_US) {
        hold();
    }
}

static void tick_alone(uint32_t waited_us)
{
    if (waited_us < UNIT_PERIOD_US) {
        return;
    }
    if ((waited_us / 2U) >= UNIT_PERIOD_US) {
        last_tick_us += waited_us - (waited_us % UNIT_PERIOD_US);
        hold();
    } else {
        last_tick_us += UNIT_PERIOD_US;
        is_late = false;
    }
    board_read(input);
    unit_step(input, state);
    send_packet();
    board_write(state);
}

static void show(uint32_t now)
{
    bool is_lit = true;
    if (board_was_hung() || (state[0] != 0U)) {
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
    board_io_init();
    unit_reset();
    link_init();
    last_tick_us = board_time();
    for (;;) {
        uint8_t byte = 0U;
        uint32_t now = board_time();
        while (board_receive(&byte)) {
            link_receive(byte);
        }
        if (link_is_greeted() && !is_lent) {
            is_lent = true;
            last_tick_us = now;
            unit_reset();
        }
        if (is_lent) {
            tick_for_computer(now - last_tick_us);
        } else if (!board_was_hung()) {
            tick_alone(now - last_tick_us);
        }
        show(now);
        board_feed_watchdog();
    }
}
