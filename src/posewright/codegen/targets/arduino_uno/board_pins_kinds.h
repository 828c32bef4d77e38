/*
 * What can be said of a pin in board_pins.h.
 *
 * Inputs and events                          value
 *   DigitalIn(2)                             1 while the pin is high
 *   DigitalIn(2, INVERTED)                   1 while the pin is low
 *   DigitalIn(2, PULL_UP)                    1 while the pin is low, pulled up inside: a button to ground
 *   AnalogueIn(A0, scale, offset)            volts (0 to 5) * scale + offset
 *   Held(7)                                  always that: there is no pin
 * Outputs
 *   DigitalOut(13), DigitalOut(13, INVERTED) high (low) while it is not 0
 *   PwmOut(9, scale, offset)                 duty of 0 to 255 = value * scale + offset; pins 3 5 6 9 10 11
 *   NoPin()                                  nowhere
 * An output begins low, DigitalOut(13, INVERTED) high, and that is how it stands.
 *
 * Pins are 2 to 13 and A0 to A5; 0 and 1 are the serial line. Inputs and events may share one, an output has its
 * own: board_wiring.cpp does not compile otherwise. A value that does not fit an input becomes the nearest that does.
 */
#ifndef BOARD_PINS_KINDS_H
#define BOARD_PINS_KINDS_H

#include <Arduino.h>

/* Whether only one of these pins is that one; below 0 is none. */
template <int N> constexpr int uses(int pin, const int (&all)[N], int from)
{
    return from == N ? 0 : (all[from] == pin ? 1 : 0) + uses(pin, all, from + 1);
}

template <int N> constexpr bool is_alone(int pin, const int (&all)[N])
{
    return pin < 0 || uses(pin, all, 0) == 1;
}

enum PinSense { PLAIN, INVERTED, PULL_UP };

struct DigitalIn {
    uint8_t pin;
    PinSense sense;

    constexpr explicit DigitalIn(uint8_t number, PinSense how = PLAIN) : pin(number), sense(how) {}
    constexpr int number() const { return pin; }
    constexpr bool is_there() const { return pin > 1 && pin < 20; }
    void begin() const { pinMode(pin, sense == PULL_UP ? INPUT_PULLUP : INPUT); }
    bool read() const { return (digitalRead(pin) == HIGH) == (sense == PLAIN); }
};

struct AnalogueIn {
    uint8_t pin;
    float scale, offset;

    constexpr AnalogueIn(uint8_t number, float by, float more) : pin(number), scale(by), offset(more) {}
    constexpr int number() const { return pin < 14 ? pin + 14 : pin; } /* 0 is A0, as for analogRead */
    constexpr bool is_there() const { return number() >= 14 && number() < 20; }
    void begin() const {}
    /* 1024 steps of the reference voltage, 5 V: ATmega328P datasheet, ADC conversion result */
    float read() const { return (float)analogRead(pin) * (5.0f / 1024.0f) * scale + offset; }
};

template <typename T> struct HeldAt {
    T value;

    constexpr explicit HeldAt(T always) : value(always) {}
    constexpr int number() const { return -1; }
    constexpr bool is_there() const { return true; }
    void begin() const {}
    T read() const { return value; }
};

template <typename T> constexpr HeldAt<T> Held(T always) { return HeldAt<T>(always); }

struct DigitalOut {
    uint8_t pin;
    PinSense sense;

    constexpr explicit DigitalOut(uint8_t number, PinSense how = PLAIN) : pin(number), sense(how) {}
    constexpr int number() const { return pin; }
    constexpr bool is_there() const { return pin > 1 && pin < 20; }
    void stand() const { digitalWrite(pin, sense == PLAIN ? LOW : HIGH); }
    void begin() const
    {
        stand();
        pinMode(pin, OUTPUT);
    }
    template <typename T> void write(T value) const
    {
        digitalWrite(pin, (value != 0) == (sense == PLAIN) ? HIGH : LOW);
    }
};

struct PwmOut {
    uint8_t pin;
    float scale, offset;

    constexpr PwmOut(uint8_t number, float by, float more) : pin(number), scale(by), offset(more) {}
    constexpr int number() const { return pin; }
    constexpr bool is_there() const
    {
        return pin == 3 || pin == 5 || pin == 6 || pin == 9 || pin == 10 || pin == 11;
    }
    void stand() const { digitalWrite(pin, LOW); } /* ends the PWM too */
    void begin() const
    {
        stand();
        pinMode(pin, OUTPUT);
    }
    template <typename T> void write(T value) const
    {
        const float duty = (float)value * scale + offset;
        analogWrite(pin, duty <= 0.0f ? 0 : duty >= 255.0f ? 255 : (int)(duty + 0.5f));
    }
};

struct NoPin {
    constexpr int number() const { return -1; }
    constexpr bool is_there() const { return true; }
    void stand() const {}
    void begin() const {}
    template <typename T> void write(T) const {}
};

/* Edges of an event's pin: it has come when the pin has risen since the last tick. */
struct Edges {
    bool was, came;

    void watch(bool is)
    {
        came = came || (is && !was);
        was = is;
    }
    bool taken()
    {
        const bool has = came;
        came = false;
        return has;
    }
};

/* What a truth value is, of a pin or of a number. */
template <typename T> static inline bool is_on(T value)
{
    return value != 0;
}

static inline bool is_on(float value)
{
    return value >= 0.5f;
}

#endif
