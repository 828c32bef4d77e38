"""Types: what a value of a chart may be, and units."""

from __future__ import annotations

from posewright.charts.types.datatypes import (
    INT_HIGH,
    INT_LOW,
    INT_RANGES,
    SINGLE_MAX,
    BoolType,
    EnumType,
    FloatType,
    IntType,
    Numeric,
    Type,
    Value,
    convert_value,
    format_value,
    to_single,
    type_of,
)
from posewright.charts.types.quantities import (
    UNITS,
    conversion_factor,
    find_unit,
    parse_quantity,
    parse_value,
    to_fraction,
    unit_hint,
)

__all__ = [
    "INT_HIGH",
    "INT_LOW",
    "INT_RANGES",
    "SINGLE_MAX",
    "UNITS",
    "BoolType",
    "EnumType",
    "FloatType",
    "IntType",
    "Numeric",
    "Type",
    "Value",
    "conversion_factor",
    "convert_value",
    "find_unit",
    "format_value",
    "parse_quantity",
    "parse_value",
    "to_fraction",
    "to_single",
    "type_of",
    "unit_hint",
]
