/* Numbers in and out of records: packed and little-endian, as the processor's own are. */
#ifndef BOARD_RECORDS_H
#define BOARD_RECORDS_H

#include <stdint.h>
#include <string.h>

/* Write a number into a record as the nearest that its type holds, from a pin that reads another type. */
template <typename T> static inline void put(uint8_t *record, T low, T high, float value)
{
    const T fitted = value <= (float)low ? low : value >= (float)high ? high
                                                                     : (T)(value < 0.0f ? value - 0.5f : value + 0.5f);
    memcpy(record, &fitted, sizeof fitted);
}

template <typename T> static inline void put(uint8_t *record, T low, T high, long value)
{
    const T fitted = value < (long)low ? low : value > (long)high ? high : (T)value;
    memcpy(record, &fitted, sizeof fitted);
}

template <typename T> static inline void put(uint8_t *record, T low, T high, int value)
{
    put<T>(record, low, high, (long)value);
}

template <typename T> static inline void put(uint8_t *record, T low, T high, bool value)
{
    put<T>(record, low, high, (long)value);
}

template <typename T> static inline void put(uint8_t *record, T low, T high, double value)
{
    put<T>(record, low, high, (float)value);
}

static inline void put_float(uint8_t *record, float value)
{
    memcpy(record, &value, sizeof value);
}

/* IEEE 754 with 64 bits from 32, which `double` has on an AVR; pins give neither infinities nor subnormals. */
static inline void put_double(uint8_t *record, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint32_t exponent = (bits >> 23) & 0xffU;
    const uint32_t high = exponent == 0U ? bits & 0x80000000U
                                         : (bits & 0x80000000U) | ((exponent + 896U) << 20) | ((bits >> 3) & 0xfffffU);
    const uint32_t low = exponent == 0U ? 0U : bits << 29;
    memcpy(record, &low, 4);
    memcpy(record + 4, &high, 4);
}

template <typename T> static inline T get(const uint8_t *record)
{
    T value;
    memcpy(&value, record, sizeof value);
    return value;
}

/* The nearest float below in size; beyond its range the largest one. */
static inline float get_double(const uint8_t *record)
{
    const uint32_t low = get<uint32_t>(record), high = get<uint32_t>(record + 4);
    const uint32_t exponent = (high >> 20) & 0x7ffU;
    uint32_t bits = high & 0x80000000U;
    if (exponent > 896U + 254U) {
        bits |= 0x7f7fffffU;
    } else if (exponent > 896U) {
        bits |= ((exponent - 896U) << 23) | ((high & 0xfffffU) << 3) | (low >> 29);
    }
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
