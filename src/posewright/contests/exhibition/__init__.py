"""The CEABOT free exhibition: five minutes in which a robot shows what it can."""
