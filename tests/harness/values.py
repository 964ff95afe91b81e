"""One form of a value for the oracle and for both readers, so that rows can be compared exactly.

A kind says how a column is held in the lake:
    bool int float4 float8 decimal string binary date time timestamp timestamptz uuid
Canonical Python values: bool; int (date: days, time and timestamps: microseconds); float as its repr text (NaN and
-0.0 stay themselves); decimal as text with all its digits; str; bytes; uuid as 32 hex digits; None.
"""

import decimal
import struct
import uuid

import pyarrow as pa
import pyarrow.compute as pc


def float_text(value, kind):
    if kind == "float4":
        value = struct.unpack("<f", struct.pack("<f", value))[0] if abs(value) != float("inf") else value
    return "NaN" if value != value else repr(float(value))


def decimal_text(value):
    return format(decimal.Decimal(value), "f")


def _scalar(kind):
    if kind in ("float4", "float8"):
        return lambda v: float_text(v, kind)
    if kind == "decimal":
        return decimal_text
    if kind == "uuid":
        # DuckDB hands a uuid out as text, PyIceberg as 16 bytes or as uuid.UUID.
        return lambda v: v.hex() if isinstance(v, bytes) else v.hex if isinstance(v, uuid.UUID) else uuid.UUID(v).hex
    return None


def _as_integers(array):
    """Dates and times of any unit and zone as the integers that Iceberg holds."""
    t = array.type
    if pa.types.is_date32(t):
        return array.cast(pa.int32())
    if pa.types.is_timestamp(t):
        if t.unit != "us":
            array = array.cast(pa.timestamp("us", t.tz), safe=True)
        return array.cast(pa.int64())
    if pa.types.is_time(t):
        if t.unit != "us":
            array = array.cast(pa.time64("us"), safe=True)
        return array.cast(pa.int64())
    return array


_EXPECTED_ARROW = {
    "bool": pa.types.is_boolean,
    "int": pa.types.is_integer,
    "float4": lambda t: pa.types.is_float32(t),
    "float8": lambda t: pa.types.is_float64(t),
    "decimal": pa.types.is_decimal,
    "string": lambda t: pa.types.is_string(t) or pa.types.is_large_string(t) or pa.types.is_string_view(t),
    "binary": lambda t: pa.types.is_binary(t) or pa.types.is_large_binary(t) or pa.types.is_binary_view(t),
    "date": pa.types.is_date32,
    "time": pa.types.is_time,
    "timestamp": lambda t: pa.types.is_timestamp(t) and t.tz is None,
    "timestamptz": lambda t: pa.types.is_timestamp(t) and t.tz is not None,
    "uuid": lambda t: True,
}


def column_values(array, kind, name):
    """Canonical values of one Arrow column; fails when the reader saw another type than the kind asks for."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if pa.types.is_dictionary(array.type):
        array = pc.cast(array, array.type.value_type)
    assert _EXPECTED_ARROW[kind](array.type), f"column {name}: {array.type} in the lake, expected a {kind}"
    values = _as_integers(array).to_pylist()
    convert = _scalar(kind)
    return values if convert is None else [None if v is None else convert(v) for v in values]


def rows_of(table, kinds):
    """Rows of an Arrow table as tuples in the order of `kinds` (a dict name → kind)."""
    columns = [column_values(table.column(name), kind, name) for name, kind in kinds.items()]
    return list(zip(*columns)) if columns else []
