/* Fractions where the compiler's own float and double are IEEE 754 of 32 and 64 bits.
 *
 * The signs +, -, *, / are C's own, and so are casts of whole numbers. An operation on numbers of 32 bits
 * may be computed in float: the chart rounds the result of 64 bits once more, and that is the same, as
 * 53 bits are at least 2 * 24 + 2 (Figueroa, "When is double rounding innocuous?", 1995).
 *
 * Compile with -std=c99 or -ffp-contract=off: a * b + c must be rounded twice.
 */
#include <math.h>

/* pw_fmod: a % b with the sign of b, which is not 0; what is no number stays so. */
static double pw_fmod(double a, double b)
{
    double rest = fmod(a, b);

    if (rest < 0.0 || rest > 0.0) {
        return (rest < 0.0) != (b < 0.0) ? rest + b : rest;
    }
    return rest != rest ? rest : copysign(0.0, b);
}

/* pw_fmodf: a % b of 32 bits: the rest is exact, and the sum is rounded as any other. */
static float pw_fmodf(float a, float b)
{
    float rest = fmodf(a, b);

    if (rest < 0.0F || rest > 0.0F) {
        return (rest < 0.0F) != (b < 0.0F) ? rest + b : rest;
    }
    return rest != rest ? rest : copysignf(0.0F, b);
}

/* pw_min_double: b where it is smaller, else a. */
static double pw_min_double(double a, double b)
{
    return b < a ? b : a;
}

/* pw_max_double: b where it is greater, else a. */
static double pw_max_double(double a, double b)
{
    return b > a ? b : a;
}

/* pw_min_float: b where it is smaller, else a. */
static float pw_min_float(float a, float b)
{
    return b < a ? b : a;
}

/* pw_max_float: b where it is greater, else a. */
static float pw_max_float(float a, float b)
{
    return b > a ? b : a;
}

/* pw_fit_double: v kept from low to high; zero where it is no number. */
static double pw_fit_double(double v, double low, double high, double zero)
{
    return v != v ? zero : pw_min_double(pw_max_double(v, low), high);
}

/* pw_fit_float: v kept from low to high; zero where it is no number. */
static float pw_fit_float(float v, float low, float high, float zero)
{
    return v != v ? zero : pw_min_float(pw_max_float(v, low), high);
}
