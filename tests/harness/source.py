"""The oracle: what PostgreSQL itself says the table holds, in the canonical values of values.py.

Values are taken as the text of PostgreSQL's own output functions (COPY … TO STDOUT), so nothing in between can change
them. Dates and times are turned into integers by the server.
"""

import dataclasses
import json
import re
import uuid

from harness.values import decimal_text, float_text

# Fjord's own session settings (docs/postgres-types.md): results must not depend on those of server or role.
SESSION = {
    "datestyle": "ISO, YMD",
    "intervalstyle": "postgres",
    "timezone": "UTC",
    "bytea_output": "hex",
    "extra_float_digits": "3",
    "lc_monetary": "C",
    "client_encoding": "UTF8",
    "statement_timeout": "0",
    "lock_timeout": "0",
    "xmlbinary": "base64",
    "search_path": "",
}

_NATIVE = {
    "bool": "bool", "int2": "int", "int4": "int", "int8": "int", "float4": "float4", "float8": "float8",
    "text": "string", "varchar": "string", "bpchar": "string", "bytea": "binary", "date": "date", "time": "time",
    "timestamp": "timestamp", "timestamptz": "timestamptz", "uuid": "uuid",
}

_COLUMNS = """
WITH RECURSIVE base AS (
  SELECT a.attnum, a.attname, a.atttypid AS type_oid, a.atttypmod AS typmod
  FROM pg_attribute a
  WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
  UNION ALL
  SELECT b.attnum, b.attname, t.typbasetype, CASE WHEN b.typmod = -1 THEN t.typtypmod ELSE b.typmod END
  FROM base b JOIN pg_type t ON t.oid = b.type_oid WHERE t.typtype = 'd')
SELECT b.attname, t.typname, b.typmod, coalesce(d.typname, e.typname), e.typdelim
FROM base b JOIN pg_type t ON t.oid = b.type_oid
LEFT JOIN pg_type e ON e.oid = t.typelem AND t.typcategory = 'A' AND t.typlen = -1
LEFT JOIN pg_type d ON d.oid = e.typbasetype
WHERE t.typtype <> 'd' ORDER BY b.attnum
"""


@dataclasses.dataclass(frozen=True)
class SourceColumn:
    name: str
    kind: str
    element: str | None  # type name of an array's elements; of an element that is a domain, the type below it
    delimiter: str = ","  # between an array's elements


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def split_name(table):
    """'public.orders' or '"My schema"."a.b"' → (schema, table)."""
    parts = re.findall(r'"((?:[^"]|"")*)"|([^.]+)', table)
    names = [a.replace('""', '"') if a or not b else b for a, b in parts]
    assert len(names) == 2, f"a table name needs a schema: {table}"
    return tuple(names)


def sql_name(table):
    return ".".join(quoted(p) for p in split_name(table))


def _kind(type_name, typmod):
    if type_name == "numeric" and typmod >= 0:
        precision = (typmod - 4) >> 16 & 0xFFFF
        scale = ((typmod - 4 & 0x7FF) ^ 1024) - 1024
        digits = precision - scale if scale < 0 else max(precision, scale)
        return "decimal" if digits <= 38 else "string"
    return _NATIVE.get(type_name, "string")


def columns(connection, table):
    found = connection.execute(_COLUMNS, [sql_name(table)]).fetchall()
    return [SourceColumn(n, _kind(t, m), e, d or ",") for n, t, m, e, d in found]


def _expression(column):
    name = quoted(column.name)
    if column.kind == "date":
        return f"({name} - date '1970-01-01')"
    if column.kind in ("time", "timestamp", "timestamptz"):
        return f"(extract(epoch FROM {name}) * 1000000)::bigint"
    return name


def _parser(column):
    if column.element is not None:
        return lambda v: array_text(v, column.element, column.delimiter)
    return {
        "bool": lambda v: v == "t",
        "int": int, "date": int, "time": int, "timestamp": int, "timestamptz": int,
        "float4": lambda v: float_text(float(v), "float4"),
        "float8": lambda v: float_text(float(v), "float8"),
        "decimal": decimal_text,
        "string": lambda v: v,
        "binary": lambda v: bytes.fromhex(v[2:]),
        "uuid": lambda v: uuid.UUID(v).hex,
    }[column.kind]


def read(database, table):
    """(kinds, rows) of the whole table as one statement sees it."""
    with database.connect() as c:
        cols = columns(c, table)
        for name, value in SESSION.items():
            c.execute("SELECT set_config(%s, %s, false)", [name, value])
        select = ", ".join(_expression(x) for x in cols)
        parsers = [_parser(x) for x in cols]
        rows = []
        with c.cursor().copy(f"COPY (SELECT {select} FROM {sql_name(table)}) TO STDOUT") as copy:
            for row in copy.rows():
                rows.append(tuple(None if v is None else p(v) for v, p in zip(row, parsers)))
    return {x.name: x.kind for x in cols}, rows


# --- arrays -------------------------------------------------------------------------------------------------------

_JSON_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?\Z")
_NUMBERS = {"int2", "int4", "int8", "float4", "float8", "numeric"}


def array_text(text, element, delimiter=","):
    """The JSON text that the lake holds for PostgreSQL's array text (docs/postgres-types.md)."""
    if not text.startswith("{"):
        return json.dumps(text, ensure_ascii=False)  # lower bounds other than 1 would be lost
    parsed, end = _parse_array(text, 0, delimiter)
    assert end == len(text), f"array text {text!r}"
    return _json(parsed, element)


def _json(value, element):
    if value is None:
        return "null"
    if isinstance(value, list):
        return "[" + ",".join(_json(v, element) for v in value) + "]"
    if element == "bool":
        return "true" if value == "t" else "false"
    if element in ("json", "jsonb") or (element in _NUMBERS and _JSON_NUMBER.match(value)):
        return value
    return json.dumps(value, ensure_ascii=False)


def _parse_array(text, at, delimiter):
    """The array that begins at text[at] == '{' as nested lists of texts and None, and the index after it."""
    items, at = [], at + 1
    if text[at] == "}":
        return items, at + 1
    while True:
        if text[at] == "{":
            item, at = _parse_array(text, at, delimiter)
        elif text[at] == '"':
            item, at = _parse_quoted(text, at + 1)
        else:
            end = at
            while text[end] not in delimiter + "}":
                end += 1
            item, at = (None if text[at:end] == "NULL" else text[at:end]), end
        items.append(item)
        if text[at] == "}":
            return items, at + 1
        at += 1


def _parse_quoted(text, at):
    out = []
    while text[at] != '"':
        if text[at] == "\\":
            at += 1
        out.append(text[at])
        at += 1
    return "".join(out), at + 1
