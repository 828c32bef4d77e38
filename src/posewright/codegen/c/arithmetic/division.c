/*
 * Divisors that may be zero. A division by zero stops the interpreter; on a board the tick that divides by
 * zero is given up: the first fault is noted in `status`, and a divisor of 1 lets the computation end.
 */

/* pw_checked_mod: the remainder with the sign of b; b == 0 is noted. */
static int32_t pw_checked_mod(int32_t a, int32_t b, uint8_t *status)
{
    if (b == 0) {
        if (*status == 0U) {
            *status = 1U;
        }
        return 0;
    }
    return pw_mod(a, b);
}

/* pw_double_divisor: b, or 1 where it is zero, which is noted. */
static double pw_double_divisor(double b, uint8_t *status)
{
    if (b == 0.0) {
        if (*status == 0U) {
            *status = 1U;
        }
        return 1.0;
    }
    return b;
}

/* pw_float_divisor: b, or 1 where it is zero, which is noted. */
static float pw_float_divisor(float b, uint8_t *status)
{
    if (b == 0.0F) {
        if (*status == 0U) {
            *status = 1U;
        }
        return 1.0F;
    }
    return b;
}

/* pw_f64_divisor: b, or 1 where it is zero, which is noted. */
static pw_f64 pw_f64_divisor(pw_f64 b, uint8_t *status)
{
    if ((b << 1) == 0U) {
        if (*status == 0U) {
            *status = 1U;
        }
        return UINT64_C(0x3ff0000000000000);
    }
    return b;
}
