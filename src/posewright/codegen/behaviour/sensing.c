#include "sensing.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#define PI 3.14159265358979323846
#define DECIMALS 1e9
#define ROUNDING 1e-9 /* a place right beside the sensor is not ahead of it, whoever rounds */
#define ALL_WHOLE 9007199254740992.0 /* 2^53: from here on every number is a whole one */

double number_in(const uint8_t *input, uint16_t k)
{
    double value;
    memcpy(&value, &input[(size_t)k * sizeof value], sizeof value);
    return value;
}

double finite_or(double value, double nothing)
{
    return isfinite(value) ? value : nothing;
}

double in_units(double value, double unit, double none)
{
    const double number = value / unit;
    const double scaled = number * DECIMALS;
    if (isinf(value)) {
        return none;
    }
    return (fabs(scaled) < ALL_WHOLE) ? ((rint(scaled) / DECIMALS) + 0.0) : number; /* never -0 */
}

double fit(double value, double low, double high)
{
    if (value < low) {
        return low;
    }
    return (value > high) ? high : value;
}

static bool holds(double over, double hysteresis, bool before)
{
    if (isnan(over)) {
        return before;
    }
    return (over > 0.0) || (before && (over >= -hysteresis));
}

bool is_below(double value, double limit, double hysteresis, bool before)
{
    return holds(limit - value, hysteresis, before);
}

bool is_above(double value, double limit, double hysteresis, bool before)
{
    return holds(value - limit, hysteresis, before);
}

double bearing_of(double towards)
{
    double wrapped;
    if (!isfinite(towards)) {
        return (double)NAN;
    }
    wrapped = remainder(-towards, 2.0 * PI);
    return (wrapped <= -PI) ? PI : wrapped;
}

static bool looks_towards(const beams_t *beams, double heading)
{
    double off;
    if (beams->is_ring) {
        return true;
    }
    off = fmod((heading - beams->first) + (0.5 * beams->step), 2.0 * PI);
    if (off < 0.0) {
        off += 2.0 * PI;
    }
    return off <= (beams->span + beams->step);
}

static bool met(const beams_t *beams, double range)
{
    return (range > 0.0) && (range < beams->max_range); /* a NaN fails both */
}

/* Notes the places within reach, as seen by one who looks along a direction; returns how many there are. */
static uint16_t look(const beams_t *beams, const uint8_t *ranges, double towards, double reach_m)
{
    const double c = cos(towards);
    const double s = sin(towards);
    uint16_t found = 0U;
    uint16_t k;
    for (k = 0U; k < beams->n; k++) {
        const double range = number_in(ranges, k);
        if (met(beams, range) && (range <= reach_m)) {
            const double x = beams->cosines[k] * range;
            const double y = beams->sines[k] * range;
            beams->ahead[found] = (c * x) + (s * y);
            beams->aside[found] = (-s * x) + (c * y);
            found++;
        }
    }
    return found;
}

double corridor(const beams_t *beams, const uint8_t *ranges, double towards, double half_m)
{
    double nearest = beams->max_range;
    uint16_t found;
    uint16_t k;
    if (!isfinite(towards)) {
        return (double)NAN;
    }
    if (!looks_towards(beams, towards)) {
        return 0.0;
    }
    found = look(beams, ranges, towards, beams->max_range);
    for (k = 0U; k < found; k++) {
        if ((fabs(beams->aside[k]) <= half_m) && (beams->ahead[k] > ROUNDING) && (beams->ahead[k] < nearest)) {
            nearest = beams->ahead[k];
        }
    }
    return nearest;
}

double free_course(const beams_t *beams, const uint8_t *ranges, double towards, const fan_t *fan, double side,
                   double half_m, double length_m, double reach_m)
{
    uint16_t found;
    uint16_t course;
    uint16_t tried;
    uint16_t k = 0U;
    if (!isfinite(towards)) {
        return (double)NAN;
    }
    found = look(beams, ranges, towards, reach_m);
    for (course = 0U; course < fan->n; course++) {
        const double turn = course * fan->step;
        const double c = fan->cosines[course];
        const double s = side * fan->sines[course];
        bool is_free = looks_towards(beams, towards + (side * turn));
        for (tried = 0U; (tried < found) && is_free; tried++) {
            const double ahead = (beams->ahead[k] * c) + (beams->aside[k] * s);
            const double aside = (beams->ahead[k] * -s) + (beams->aside[k] * c);
            is_free = (fabs(aside) > half_m) || (ahead <= ROUNDING) || (ahead >= length_m);
            if (is_free) {
                k = ((k + 1U) < found) ? (uint16_t)(k + 1U) : 0U;
            } /* else what stands in this way mostly stands in the next one too, and is asked first there */
        }
        if (is_free) {
            return turn;
        }
    }
    return (double)INFINITY;
}

double farthest(const beams_t *beams, const uint8_t *ranges, double towards, double least)
{
    const double c = cos(towards);
    const double s = sin(towards);
    double most = -(double)INFINITY;
    uint16_t k;
    if (!isfinite(towards)) {
        return (double)NAN;
    }
    for (k = 0U; k < beams->n; k++) {
        const double off = (beams->cosines[k] * c) + (beams->sines[k] * s);
        const double range = number_in(ranges, k);
        const double along = met(beams, range) ? (range * off) : beams->max_range;
        if ((off >= least) && (along > most)) {
            most = along;
        }
    }
    return (most > -(double)INFINITY) ? most : beams->max_range;
}
