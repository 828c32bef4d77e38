/*
 * One tick every UNIT_PERIOD_US by the clock of the board, without drift, until a computer greets the board over the
 * line (hardware in the loop): from then on one for each record of inputs that it sends. board.h says when outputs
 * stand. Between ticks the processor sleeps: the Arduino clock wakes it every 1.024 ms.
 */
#include "board.h"

#if defined(__AVR__)
#include <avr/sleep.h>
#include <avr/wdt.h>
#endif

static const unsigned long BIT_RATE = 115200;
static const uint32_t SILENCE_MS = UNIT_PERIOD_US > 500000UL ? UNIT_PERIOD_US / 250UL : 2000UL; /* 4 periods, 2 s */
static const uint32_t IN_TICK = 0x7469636bUL; /* no chance value of RAM */
static const uint32_t NEAR_US = 1200; /* nearer to a tick than that the processor stays awake */

enum Mode { ALONE, LENT, WAITING };

static uint8_t input[UNIT_INPUT_BYTES + 1U], state[UNIT_STATE_BYTES];
static uint32_t due, heard_ms;
static uint8_t told_status;
static Mode mode;
static bool is_standing;

/*
 * Outlives a reset. A boot loader leaves no trace of what the reset was: who is reset in a tick is taken to have hung
 * there. A person who hits one by chance presses again.
 */
static uint32_t doing __attribute__((section(".noinit")));

/* Only what was heard undamaged is answered: noise is no word from the computer. */
extern "C" void link_put(uint8_t byte)
{
    heard_ms = millis();
    Serial.write(byte);
}

static void stand()
{
    if (!is_standing) {
        is_standing = true;
        wiring_stand();
        hook_stand();
    }
}

static void step()
{
    doing = IN_TICK;
    unit_step(input, state);
    if (state[0] != 0U) {
        stand();
    } else {
        is_standing = false;
        wiring_write(state);
        hook_tick(state);
    }
    doing = 0;
}

/* Begin anew, and wait for what the computer says. */
static void begin_anew(Mode how)
{
    mode = how;
    stand();
    unit_reset();
}

static void monitor()
{
    if (state[0] != told_status) {
        told_status = state[0];
        Serial.print(F("! the chart stopped: "));
        Serial.println(told_status == 1 ? F("division by zero") : F("a tick does not end"));
    }
    if (wiring_changed(state)) {
        Serial.print(millis());
        Serial.print(F(" ms"));
        wiring_tell(state);
        Serial.println();
    }
}

static void serve_line()
{
    uint8_t sequence;

    while (Serial.available() > 0) {
        link_receive((uint8_t)Serial.read());
    }
    if (link_is_greeted() && mode != LENT) {
        begin_anew(LENT);
    }
    if (link_was_reset()) {
        stand();
    }
    if (link_take(input, &sequence)) {
        step();
        link_reply(sequence, state);
    }
    if (mode == LENT && !is_standing && millis() - heard_ms >= SILENCE_MS) {
        begin_anew(WAITING);
        Serial.println(F("! the computer fell silent"));
        link_init(); /* refuses everything until it is greeted */
    }
}

static void rest()
{
#if defined(__AVR__)
    set_sleep_mode(SLEEP_MODE_IDLE);
    noInterrupts();
    if (Serial.available() == 0) {
        sleep_enable();
        interrupts(); /* takes effect after the next instruction: no interrupt is slept through */
        sleep_cpu();
        sleep_disable();
    }
    interrupts();
#endif
}

static void tick_alone()
{
    wiring_watch();
    const uint32_t late = micros() - due;
    if ((int32_t)late >= 0) {
        due += UNIT_PERIOD_US;
        if (late >= UNIT_PERIOD_US) { /* whole ticks were missed: they are not made up for */
            due = micros() + UNIT_PERIOD_US;
            Serial.println(F("! late"));
        }
        doing = IN_TICK;
        wiring_read(input);
        hook_inputs(input);
        step();
        monitor();
    } else if (0U - late > NEAR_US) {
        rest();
    }
}

void board_begin()
{
    const bool has_hung = doing == IN_TICK;

    doing = 0;
#if defined(__AVR__)
    MCUSR = 0; /* or the watchdog that has bitten stays on */
    wdt_disable();
#endif
    Serial.begin(BIT_RATE);
    wiring_begin();
    is_standing = true;
    mode = has_hung ? WAITING : ALONE;
    unit_reset();
    link_init();
    hook_begin();
    if (has_hung) {
        Serial.println(F("! a tick hung: reset the board"));
    }
    due = micros();
#if defined(__AVR__)
    wdt_enable(WDTO_4S); /* longer than any step that `posewright verify` lets pass */
#endif
}

void board_loop()
{
#if defined(__AVR__)
    wdt_reset();
#endif
    serve_line();
    if (mode == ALONE) {
        tick_alone();
    } else {
        rest();
    }
}
