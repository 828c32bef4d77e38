#ifndef HOST_H
#define HOST_H

#include "unit.h"

/* Takes n ticks: n records of inputs in, n records of states out. */
void host_run(const uint8_t *inputs, uint32_t n, uint8_t *states);

#endif /* HOST_H */
