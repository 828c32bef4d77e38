/* Fractions of 64 bits where the compiler's double has fewer: IEEE 754 binary64, rounded to the nearest
 * number, to the even one of two. Written for few bytes on processors of 8 bits; there is one NaN only.
 */
#include <stdbool.h>
#include <stdint.h>

/* pw_f64: the bits of a number. */
typedef uint64_t pw_f64;

/* PW_F64_SIGN: the sign bit. */
#define PW_F64_SIGN ((pw_f64)1 << 63)

/* PW_F64_INFINITY: the bits of infinity; a greater magnitude is not a number. */
#define PW_F64_INFINITY ((pw_f64)0x7FF << 52)

/* PW_F64_NAN: the bits of what is not a number. */
#define PW_F64_NAN ((pw_f64)0xFFF << 51)

/* pw_f64_neg: -a. */
static pw_f64 pw_f64_neg(pw_f64 a)
{
    return a ^ PW_F64_SIGN;
}

/* pw_f64_abs: a without its sign. */
static pw_f64 pw_f64_abs(pw_f64 a)
{
    return a & ~PW_F64_SIGN;
}

/* pw_f64_is_nan: whether a is not a number. */
static bool pw_f64_is_nan(pw_f64 a)
{
    return pw_f64_abs(a) > PW_F64_INFINITY;
}

/* pw_f64_compare: -1, 0, 1 as a is less than b, equal, greater; 2 where one is not a number. */
static int8_t pw_f64_compare(pw_f64 a, pw_f64 b)
{
    if (pw_f64_is_nan(a) || pw_f64_is_nan(b)) {
        return 2;
    }
    if (a == b || pw_f64_abs(a | b) == 0) {
        return 0;
    }
    if (((a | b) & PW_F64_SIGN) != 0) { /* one is negative: the greater bits are the lesser number */
        return a > b ? -1 : 1;
    }
    return a < b ? -1 : 1;
}

/* pw_f64_lt: a < b. */
static bool pw_f64_lt(pw_f64 a, pw_f64 b)
{
    return pw_f64_compare(a, b) < 0;
}

/* pw_f64_le: a <= b. */
static bool pw_f64_le(pw_f64 a, pw_f64 b)
{
    return pw_f64_compare(a, b) <= 0;
}

/* pw_f64_eq: a == b. */
static bool pw_f64_eq(pw_f64 a, pw_f64 b)
{
    return pw_f64_compare(a, b) == 0;
}

/* pw_f64_min: b where it is smaller, else a. */
static pw_f64 pw_f64_min(pw_f64 a, pw_f64 b)
{
    return pw_f64_lt(b, a) ? b : a;
}

/* pw_f64_max: b where it is greater, else a. */
static pw_f64 pw_f64_max(pw_f64 a, pw_f64 b)
{
    return pw_f64_lt(a, b) ? b : a;
}

/* pw_f64_fit: v kept from low to high; zero where it is no number. */
static pw_f64 pw_f64_fit(pw_f64 v, pw_f64 low, pw_f64 high, pw_f64 zero)
{
    return pw_f64_is_nan(v) ? zero : pw_f64_min(pw_f64_max(v, low), high);
}

/* pw_f64_parts: fraction * 2^(exponent - 1085), so that a normal number with bit 62 set has this exponent. */
typedef struct {
    uint64_t fraction;
    int16_t exponent;
} pw_f64_parts;

/* pw_f64_normalise: let a fraction that is not 0 begin at bit 62. */
static void pw_f64_normalise(pw_f64_parts *parts)
{
    while ((parts->fraction >> 62) == 0) {
        parts->fraction <<= 1;
        parts->exponent--;
    }
}

/* pw_f64_open: the parts of the magnitude of a finite number. */
static void pw_f64_open(pw_f64_parts *parts, pw_f64 a)
{
    a = pw_f64_abs(a);
    parts->fraction = (a & (((pw_f64)1 << 52) - 1)) << 10;
    parts->exponent = (int16_t)(a >> 52);
    if (parts->exponent != 0) {
        parts->fraction |= (uint64_t)1 << 62;
    } else {
        parts->exponent = 1;
        if (parts->fraction != 0) {
            pw_f64_normalise(parts);
        }
    }
}

/* pw_f64_shifted: fraction >> by, with the last bit set where one that was set is lost. */
static uint64_t pw_f64_shifted(uint64_t fraction, uint16_t by)
{
    while (by != 0 && fraction > 1) {
        fraction = (fraction >> 1) | (fraction & 1);
        by--;
    }
    return fraction;
}

/* pw_f64_rounded: the bits of a magnitude, less `drop` bits of fraction, below the exponent `top`. */
static uint64_t pw_f64_rounded(pw_f64_parts *parts, uint8_t drop, int16_t top)
{
    uint64_t bits;
    uint64_t rest;
    uint64_t half = (uint64_t)1 << (drop - 1);

    if (parts->fraction == 0) {
        return 0;
    }
    if ((parts->fraction >> 63) != 0) {
        parts->fraction = pw_f64_shifted(parts->fraction, 1);
        parts->exponent++;
    }
    pw_f64_normalise(parts);
    if (parts->exponent < 1) { /* subnormal */
        parts->fraction = pw_f64_shifted(parts->fraction, (uint16_t)(1 - parts->exponent));
        parts->exponent = 1;
    }
    if (parts->exponent >= top) {
        return (uint64_t)(uint16_t)top << (62 - drop);
    }
    bits = parts->fraction >> drop;
    rest = parts->fraction - (bits << drop);
    if (rest > half || (rest == half && (bits & 1) != 0)) {
        bits++; /* a carry goes into the exponent, up to infinity */
    }
    return bits + ((uint64_t)(uint16_t)(parts->exponent - 1) << (62 - drop));
}

/* pw_f64_close: the number that is nearest to parts, with the sign bit of `sign`. */
static pw_f64 pw_f64_close(pw_f64_parts *parts, pw_f64 sign)
{
    return pw_f64_rounded(parts, 10, 0x7FF) | (sign & PW_F64_SIGN);
}

/* pw_f64_add: a + b. */
static pw_f64 pw_f64_add(pw_f64 a, pw_f64 b)
{
    pw_f64_parts x;
    pw_f64_parts y;
    bool differ = ((a ^ b) & PW_F64_SIGN) != 0;

    if (pw_f64_abs(a) < pw_f64_abs(b)) {
        pw_f64 other = a;
        a = b;
        b = other;
    }
    if (pw_f64_abs(a) >= PW_F64_INFINITY) {
        return pw_f64_is_nan(a) || (differ && pw_f64_abs(b) == PW_F64_INFINITY) ? PW_F64_NAN : a;
    }
    if (differ && pw_f64_abs(a) == pw_f64_abs(b)) {
        return 0;
    }
    pw_f64_open(&x, a);
    pw_f64_open(&y, b);
    y.fraction = pw_f64_shifted(y.fraction, (uint16_t)(x.exponent - y.exponent));
    if (differ) {
        x.fraction -= y.fraction;
    } else {
        x.fraction += y.fraction;
    }
    return pw_f64_close(&x, a);
}

/* pw_f64_sub: a - b. */
static pw_f64 pw_f64_sub(pw_f64 a, pw_f64 b)
{
    return pw_f64_add(a, pw_f64_neg(b));
}

/* pw_f64_mul: a * b. */
static pw_f64 pw_f64_mul(pw_f64 a, pw_f64 b)
{
    pw_f64_parts x;
    pw_f64_parts y;
    pw_f64 sign = a ^ b;
    uint64_t product = 0;
    uint64_t lost = 0;

    a = pw_f64_abs(a);
    b = pw_f64_abs(b);
    if (a >= PW_F64_INFINITY || b >= PW_F64_INFINITY) {
        bool none = a > PW_F64_INFINITY || b > PW_F64_INFINITY || a == 0 || b == 0;
        return none ? PW_F64_NAN : (sign & PW_F64_SIGN) | PW_F64_INFINITY;
    }
    pw_f64_open(&x, a);
    pw_f64_open(&y, b);
    x.exponent = (int16_t)(x.exponent + y.exponent - 1022);
    for (y.fraction >>= 10; y.fraction != 0; y.fraction >>= 1) {
        lost |= product & 1;
        product >>= 1;
        if ((y.fraction & 1) != 0) {
            product += x.fraction;
        }
    }
    x.fraction = (product >> 1) | ((product | lost) & 1);
    return pw_f64_close(&x, sign);
}

/* pw_f64_div: a / b; b may be 0, as in IEEE 754. */
static pw_f64 pw_f64_div(pw_f64 a, pw_f64 b)
{
    pw_f64_parts x;
    pw_f64_parts y;
    pw_f64 sign = (a ^ b) & PW_F64_SIGN;
    uint64_t quotient = 0;
    uint8_t left;

    a = pw_f64_abs(a);
    b = pw_f64_abs(b);
    if (a >= PW_F64_INFINITY || b == 0) {
        bool none = a > PW_F64_INFINITY || b >= PW_F64_INFINITY || a == 0;
        return none ? PW_F64_NAN : sign | PW_F64_INFINITY;
    }
    if (b >= PW_F64_INFINITY) {
        return b > PW_F64_INFINITY ? PW_F64_NAN : sign;
    }
    pw_f64_open(&x, a);
    pw_f64_open(&y, b);
    for (left = 56; left != 0; left--) { /* 53 bits, one where the first is 0, and those to round by */
        quotient <<= 1;
        if (x.fraction >= y.fraction) {
            x.fraction -= y.fraction;
            quotient |= 1;
        }
        x.fraction <<= 1;
    }
    x.exponent = (int16_t)(x.exponent - y.exponent + 1023);
    x.fraction = (quotient << 7) | (x.fraction != 0 ? 1 : 0);
    return pw_f64_close(&x, sign);
}

/* pw_f64_mod: a % b with the sign of b, which is not 0. It takes as many rounds as a has more bits than b. */
static pw_f64 pw_f64_mod(pw_f64 a, pw_f64 b)
{
    pw_f64_parts x;
    pw_f64_parts y;

    if (pw_f64_abs(a) >= PW_F64_INFINITY || pw_f64_is_nan(b) || pw_f64_abs(b) == 0) {
        return PW_F64_NAN;
    }
    if (pw_f64_abs(a) >= pw_f64_abs(b)) {
        pw_f64_open(&x, a);
        pw_f64_open(&y, b);
        for (;;) {
            if (x.fraction >= y.fraction) {
                x.fraction -= y.fraction;
            }
            if (x.exponent == y.exponent) {
                break;
            }
            x.fraction <<= 1;
            x.exponent--;
        }
        a = pw_f64_close(&x, a);
    }
    if (pw_f64_abs(a) == 0) {
        return b & PW_F64_SIGN;
    }
    return ((a ^ b) & PW_F64_SIGN) != 0 ? pw_f64_add(a, b) : a;
}

/* pw_f64_from_i32: a, exactly. */
static pw_f64 pw_f64_from_i32(int32_t a)
{
    pw_f64_parts x;

    x.fraction = (uint64_t)(a < 0 ? (uint32_t)0 - (uint32_t)a : (uint32_t)a) << 31;
    x.exponent = 1023 + 31;
    return pw_f64_close(&x, a < 0 ? PW_F64_SIGN : 0);
}

/* pw_f64_from_f32: a, exactly. */
static pw_f64 pw_f64_from_f32(float a)
{
    pw_f64_parts x;
    union {
        float number;
        uint32_t bits;
    } single;
    pw_f64 sign;

    single.number = a;
    sign = (pw_f64)(single.bits >> 31) << 63;
    single.bits &= 0x7FFFFFFFUL;
    if (single.bits >= 0x7F800000UL) {
        return single.bits > 0x7F800000UL ? PW_F64_NAN : sign | PW_F64_INFINITY;
    }
    x.fraction = (uint64_t)(single.bits & 0x7FFFFFUL) << 39;
    x.exponent = (int16_t)(single.bits >> 23);
    if (x.exponent == 0) {
        x.exponent = 1;
    } else {
        x.fraction |= (uint64_t)1 << 62;
    }
    x.exponent = (int16_t)(x.exponent + 1023 - 127);
    return pw_f64_close(&x, sign);
}

/* pw_f64_to_f32: the number of 32 bits that is nearest to a. */
static float pw_f64_to_f32(pw_f64 a)
{
    pw_f64_parts x;
    union {
        float number;
        uint32_t bits;
    } single;

    if (pw_f64_abs(a) >= PW_F64_INFINITY) {
        single.bits = pw_f64_is_nan(a) ? 0x7FC00000UL : 0x7F800000UL;
    } else {
        pw_f64_open(&x, a);
        x.exponent = (int16_t)(x.exponent - 1023 + 127);
        single.bits = (uint32_t)pw_f64_rounded(&x, 39, 0xFF);
    }
    single.bits |= (uint32_t)(a >> 63) << 31;
    return single.number;
}
