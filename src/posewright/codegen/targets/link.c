/* The serial line between a board and a computer: see link.h. */
#include "link.h"

#include <string.h>

#include "unit.h"

#define HEADER 5U /* start, kind, sequence, length */
#define CHECK 2U
#define AROUND (HEADER + CHECK)

static uint8_t received[UNIT_INPUT_BYTES + AROUND]; /* begins with LINK_START unless it is empty */
static uint16_t filled;
static uint8_t asked[UNIT_INPUT_BYTES + 1U]; /* inputs of the step that is to be taken; never of no size */
static uint8_t kept[UNIT_STATE_BYTES];       /* the last answer to a step */
static uint8_t last_kind;                    /* of the last question that is, or will be, answered: 0 none */
static uint8_t last_sequence;
static bool is_asked;   /* a step waits to be taken */
static bool is_pending; /* a step was taken and is not answered yet */
static bool is_greeted;
static bool is_fresh;
static bool was_reset;
static uint16_t check; /* of the frame that is being sent */

/* Eight steps of the polynomial at once: it has few terms, 12, 5 and 0, so that each bit goes to few places. */
static uint16_t checked(uint16_t crc, uint8_t byte)
{
    uint8_t head = (uint8_t)((crc >> 8) ^ byte);
    head = (uint8_t)(head ^ (head >> 4));
    crc = (uint16_t)(crc << 8);
    crc = (uint16_t)(crc ^ ((uint16_t)head << 12) ^ ((uint16_t)head << 5) ^ (uint16_t)head);
    return crc;
}

static void put(uint8_t byte)
{
    check = checked(check, byte);
    link_put(byte);
}

static void put_number(uint32_t number, uint8_t bytes)
{
    for (uint8_t k = 0U; k < bytes; k++) {
        put((uint8_t)(number & 0xFFU));
        number >>= 8;
    }
}

static void put_bytes(const uint8_t *bytes, uint16_t count)
{
    for (uint16_t k = 0U; k < count; k++) {
        put(bytes[k]);
    }
}

static void begin_answer(uint8_t kind, uint8_t sequence, uint16_t length)
{
    link_put((uint8_t)LINK_START);
    check = 0xFFFFU;
    put((uint8_t)(kind | LINK_ANSWER));
    put(sequence);
    put_number(length, 2U);
}

static void end_answer(void)
{
    uint16_t whole = check;
    link_put((uint8_t)(whole >> 8));
    link_put((uint8_t)(whole & 0xFFU));
}

static void say_hello(uint8_t sequence)
{
    static const char name[] = UNIT_NAME;
    uint16_t letters = (uint16_t)(sizeof(name) - 1U);
    begin_answer((uint8_t)LINK_HELLO, sequence, (uint16_t)(10U + letters));
    put((uint8_t)LINK_PROTOCOL);
    put(is_fresh ? 1U : 0U);
    put_number((uint32_t)UNIT_INPUT_BYTES, 2U);
    put_number((uint32_t)UNIT_STATE_BYTES, 2U);
    put_number((uint32_t)UNIT_PERIOD_US, 4U);
    for (uint16_t k = 0U; k < letters; k++) {
        put((uint8_t)name[k]);
    }
    end_answer();
}

static void say_refused(uint8_t sequence, uint8_t reason)
{
    begin_answer((uint8_t)LINK_REFUSED, sequence, 1U);
    put(reason);
    end_answer();
}

static void say_state(uint8_t sequence)
{
    begin_answer((uint8_t)LINK_STEP, sequence, (uint16_t)UNIT_STATE_BYTES);
    put_bytes(kept, (uint16_t)UNIT_STATE_BYTES);
    end_answer();
}

static void say_was_reset(uint8_t sequence)
{
    begin_answer((uint8_t)LINK_RESET, sequence, 0U);
    end_answer();
}

static void greet(uint8_t sequence)
{
    is_greeted = true;
    is_asked = false;
    is_pending = false;
    last_kind = 0U; /* whoever says hello counts from anew */
    say_hello(sequence);
}

static void ask_step(uint8_t sequence, const uint8_t *inputs, bool is_repeated)
{
    if (is_asked || is_pending) {
        if (!is_repeated) { /* a repeated question will be answered soon */
            say_refused(sequence, (uint8_t)LINK_BUSY);
        }
    } else if (is_repeated) {
        say_state(sequence);
    } else {
        memcpy(asked, inputs, (size_t)UNIT_INPUT_BYTES);
        is_asked = true;
        last_kind = (uint8_t)LINK_STEP;
        last_sequence = sequence;
    }
}

static void reset(uint8_t sequence, bool is_repeated)
{
    if (!is_repeated) {
        unit_reset();
        was_reset = true;
        is_asked = false;
        is_pending = false;
        last_kind = (uint8_t)LINK_RESET;
        last_sequence = sequence;
    }
    say_was_reset(sequence);
}

static void deal_with(const uint8_t *frame)
{
    uint8_t kind = frame[1];
    uint8_t sequence = frame[2];
    bool is_repeated = (kind == last_kind) && (sequence == last_sequence);
    if (kind == LINK_HELLO) {
        greet(sequence);
    } else if (!is_greeted) {
        say_refused(sequence, (uint8_t)LINK_NOT_GREETED);
    } else if (kind == LINK_STEP) {
        ask_step(sequence, &frame[HEADER], is_repeated);
    } else {
        reset(sequence, is_repeated);
    }
}

/* Drop bytes up to the next that may begin a frame, `count` of them at least. */
static void drop(uint16_t count)
{
    while ((count < filled) && (received[count] != LINK_START)) {
        count++;
    }
    filled = (uint16_t)(filled - count);
    memmove(received, &received[count], (size_t)filled);
}

/* Return the bytes of the frame that seems to begin here; 0 where none can. */
static uint16_t expected(void)
{
    uint16_t length = (uint16_t)(received[3] | (uint16_t)((uint16_t)received[4] << 8));
    uint16_t fitting = 0U;
    if ((received[1] < LINK_HELLO) || (received[1] > LINK_RESET)) {
        return 0U;
    }
    if (received[1] == LINK_STEP) {
        fitting = (uint16_t)UNIT_INPUT_BYTES;
    }
    return (length == fitting) ? (uint16_t)(length + AROUND) : 0U;
}

static bool is_sound(uint16_t size)
{
    uint16_t crc = 0xFFFFU;
    for (uint16_t k = 1U; k < size; k++) { /* with its own CRC behind it, that of anything is 0 */
        crc = checked(crc, received[k]);
    }
    return crc == 0U;
}

void link_init(void)
{
    filled = 0U;
    last_kind = 0U;
    is_asked = false;
    is_pending = false;
    is_greeted = false;
    is_fresh = true;
    was_reset = false;
    say_hello(0U);
}

void link_receive(uint8_t byte)
{
    if ((filled == 0U) && (byte != LINK_START)) {
        return;
    }
    received[filled] = byte; /* there is room: a whole frame never stays */
    filled++;
    while (filled >= HEADER) {
        uint16_t size = expected();
        if (size == 0U) {
            drop(1U);
        } else if (filled < size) {
            return;
        } else if (is_sound(size)) {
            deal_with(received);
            drop(size);
        } else {
            drop(1U);
        }
    }
}

bool link_take(uint8_t *input_record, uint8_t *sequence)
{
    if (!is_asked) {
        return false;
    }
    memcpy(input_record, asked, (size_t)UNIT_INPUT_BYTES);
    *sequence = last_sequence;
    is_asked = false;
    is_pending = true;
    is_fresh = false;
    return true;
}

void link_reply(uint8_t sequence, const uint8_t *state_record)
{
    if (!is_pending || (sequence != last_sequence)) {
        return; /* the computer has greeted or reset the board meanwhile */
    }
    is_pending = false;
    memcpy(kept, state_record, (size_t)UNIT_STATE_BYTES);
    say_state(sequence);
}

bool link_is_greeted(void)
{
    return is_greeted;
}

bool link_was_reset(void)
{
    bool was = was_reset;
    was_reset = false;
    return was;
}
