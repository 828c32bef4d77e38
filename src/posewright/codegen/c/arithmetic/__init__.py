"""Arithmetic that generated C needs beyond C's own: fragments of C, each a function with what it calls.

| file | what | where |
|---|---|---|
| `integers.c` | whole numbers of 32 bits that saturate | everywhere |
| `floats.c` | fractions of 32 and 64 bits | where C's `float` and `double` have these |
| `soft_singles.c` | quotients of 32 bits, where avr-libc rounds subnormal ones wrongly | on an AVR |
| `soft_doubles.c` | fractions of 64 bits as their bits | where `double` has 32, as on an AVR |
"""

from posewright.codegen.c.arithmetic.fragments import fragment, headers, with_called_fragments

__all__ = ["fragment", "headers", "with_called_fragments"]
