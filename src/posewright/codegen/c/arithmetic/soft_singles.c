/* What the floats of avr-libc leave to do: they are IEEE 754 of 32 bits, but for small quotients. */
#include <stdint.h>

/* pw_f32_bits: a number and its bits. */
typedef union {
    float number;
    uint32_t bits;
} pw_f32_bits;

/* pw_f32_open: make the fraction of a finite number other than 0 begin at bit 23; its exponent. */
static int16_t pw_f32_open(uint32_t *bits)
{
    int16_t exponent = (int16_t)((*bits >> 23) & 0xFF);

    *bits &= 0x7FFFFFUL;
    if (exponent != 0) {
        *bits |= 0x800000UL;
        return exponent;
    }
    for (exponent = 1; *bits < 0x800000UL; exponent--) {
        *bits <<= 1;
    }
    return exponent;
}

/* pw_f32_div: a / b, for avr-libc 2.0, which takes a subnormal quotient that lies just above the middle of
 * two numbers for the middle. Such a quotient is divided again, bit by bit, in steps of 2^-149. */
static float pw_f32_div(float a, float b)
{
    pw_f32_bits x;
    pw_f32_bits y;
    pw_f32_bits quotient;
    int16_t left;

    x.number = a;
    y.number = b;
    quotient.number = a / b;
    if ((quotient.bits & 0x7FFFFFFFUL) > 0x800000UL || (x.bits & 0x7FFFFFFFUL) == 0
        || (y.bits & 0x7FFFFFFFUL) == 0x7F800000UL) {
        return quotient.number;
    }
    quotient.bits = 0;
    left = pw_f32_open(&x.bits);
    left = (int16_t)(left - pw_f32_open(&y.bits) + 149);
    if (left >= -1) { /* else it is less than half a step */
        for (; left >= 0; left--) {
            quotient.bits <<= 1;
            if (x.bits >= y.bits) {
                x.bits -= y.bits;
                quotient.bits |= 1;
            }
            x.bits <<= 1;
        }
        if (x.bits > y.bits || (x.bits == y.bits && (quotient.bits & 1) != 0)) {
            quotient.bits++;
        }
    }
    return (a < 0.0F) == (b < 0.0F) ? quotient.number : -quotient.number;
}
