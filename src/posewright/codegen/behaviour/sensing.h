/* What sensors tell: thresholds, bearings and views of a scan, in inner units (radians, metres). */
#ifndef SENSING_H
#define SENSING_H

#include <stdbool.h>
#include <stdint.h>

/* Where a scanner looks; beams are evenly spaced, angles positive to the left. */
typedef struct {
    const double *cosines;
    const double *sines;
    double first;     /* angle of the rightmost beam */
    double span;      /* from the rightmost beam to the leftmost */
    double step;      /* from one beam to the next */
    double max_range; /* what a beam reads that meets nothing */
    uint16_t n;
    bool is_ring;     /* the beams go all the way round */
    double *ahead;    /* room for n numbers: places that are near, as seen along a direction */
    double *aside;
} beams_t;

/* The turns that are tried, beginning with none. */
typedef struct {
    const double *cosines;
    const double *sines;
    double step;
    uint16_t n;
} fan_t;

/* Number k of a record of inputs. */
double number_in(const uint8_t *input, uint16_t k);

/* The value, or what stands for it where it is not finite. */
double finite_or(double value, double nothing);

/* A value in units of a size, to nine decimals; `none` for an infinite one. */
double in_units(double value, double unit, double none);

/* The value of the range nearest to it. */
double fit(double value, double low, double high);

/* Whether a value is beyond its limit, having been so `before`; NaN changes nothing. */
bool is_below(double value, double limit, double hysteresis, bool before);
bool is_above(double value, double limit, double hysteresis, bool before);

/* How far to the left of a direction the robot looks, within half a turn; NaN where it is not known. */
double bearing_of(double towards);

/* Free length of a corridor that begins at the sensor. */
double corridor(const beams_t *beams, const uint8_t *ranges, double towards, double half_m);

/* Smallest turn to one side (1 left, -1 right) after which a corridor is free; infinity where none is. */
double free_course(const beams_t *beams, const uint8_t *ranges, double towards, const fan_t *fan, double side,
                   double half_m, double length_m, double reach_m);

/* How far the farthest thing lies along a direction; beams count whose cosine from it is `least` or more. */
double farthest(const beams_t *beams, const uint8_t *ranges, double towards, double least);

#endif /* SENSING_H */
