/* Whole numbers of a chart: 32 bits, which saturate in every operation and never wrap. */
#include <stdint.h>

/* pw_add: a + b. */
static int32_t pw_add(int32_t a, int32_t b)
{
    if (b < 0) {
        return a < INT32_MIN - b ? INT32_MIN : a + b;
    }
    return a > INT32_MAX - b ? INT32_MAX : a + b;
}

/* pw_sub: a - b. */
static int32_t pw_sub(int32_t a, int32_t b)
{
    if (b < 0) {
        return a > INT32_MAX + b ? INT32_MAX : a - b;
    }
    return a < INT32_MIN + b ? INT32_MIN : a - b;
}

/* pw_mul: a * b. On an AVR the product of 64 bits is the smallest way, and faster than a division. */
static int32_t pw_mul(int32_t a, int32_t b)
{
    int64_t product = (int64_t)a * b;

    if (product < INT32_MIN) {
        return INT32_MIN;
    }
    return product > INT32_MAX ? INT32_MAX : (int32_t)product;
}

/* pw_neg: -a. */
static int32_t pw_neg(int32_t a)
{
    return a == INT32_MIN ? INT32_MAX : -a;
}

/* pw_abs: a without its sign. */
static int32_t pw_abs(int32_t a)
{
    return a < 0 ? pw_neg(a) : a;
}

/* pw_mod: a % b with the sign of b, which is not 0. */
static int32_t pw_mod(int32_t a, int32_t b)
{
    int32_t rest;

    if (b == -1) {
        return 0; /* C has no answer for INT32_MIN % -1, and some processors stop there */
    }
    rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/* pw_min_i32: the smaller one. */
static int32_t pw_min_i32(int32_t a, int32_t b)
{
    return b < a ? b : a;
}

/* pw_max_i32: the greater one. */
static int32_t pw_max_i32(int32_t a, int32_t b)
{
    return b > a ? b : a;
}

/* pw_clamp_i32: the number from low to high that is nearest to v. */
static int32_t pw_clamp_i32(int32_t v, int32_t low, int32_t high)
{
    return v < low ? low : v > high ? high : v;
}
