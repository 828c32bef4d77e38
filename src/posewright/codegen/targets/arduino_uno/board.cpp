/*
 * One tick every UNIT_PERIOD_US by the clock of the board, without drift; or, while a computer is on the line
 * (hardware in the loop), one for each record of inputs it sends. Once it has been silent for two seconds the board
 * goes on by itself. Between ticks the processor sleeps: the Arduino clock wakes it every 1.024 ms.
 */
#include "board.h"

#if defined(__AVR__)
#include <avr/sleep.h>
#endif

static const unsigned long BIT_RATE = 115200;
static const uint32_t SILENCE_MS = 2000;
static const uint32_t NEAR_US = 1200; /* nearer to a tick than that the processor stays awake */

static uint8_t input[UNIT_INPUT_BYTES + 1U], state[UNIT_STATE_BYTES];
static uint32_t due, heard_ms;
static uint8_t told_status;

extern "C" void link_put(uint8_t byte)
{
    Serial.write(byte);
}

static void step()
{
    unit_step(input, state);
    wiring_write(state);
    hook_tick(state);
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

/* Return whether a computer gives the inputs. */
static bool serve_line()
{
    uint8_t sequence;

    while (Serial.available() > 0) {
        link_receive((uint8_t)Serial.read());
        heard_ms = millis();
    }
    if (link_was_reset()) {
        wiring_forget();
    }
    if (link_take(input, &sequence)) {
        step();
        link_reply(sequence, state);
    }
    return link_is_greeted() && millis() - heard_ms < SILENCE_MS;
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

void board_begin()
{
    Serial.begin(BIT_RATE);
    wiring_begin();
    unit_reset();
    link_init();
    hook_begin();
    due = micros();
}

void board_loop()
{
    wiring_watch();
    if (serve_line()) {
        due = micros();
        rest();
        return;
    }
    const uint32_t late = micros() - due;
    if ((int32_t)late >= 0) {
        due += UNIT_PERIOD_US;
        if (late >= UNIT_PERIOD_US) { /* whole ticks were missed: they are not made up for */
            due = micros() + UNIT_PERIOD_US;
            Serial.println(F("! late"));
        }
        wiring_read(input);
        hook_inputs(input);
        step();
        monitor();
    } else if (0U - late > NEAR_US) {
        rest();
    }
}
