"""A table of the lake equals its source: all rows, all columns, and every way of asking that readers have."""

import collections

from harness import source
from harness.readers import READERS, DuckDbReader, PyIcebergReader
from harness.values import rows_of

MAX_SHOWN = 5


def difference(expected, found):
    """None, or a text with the first rows that are only on one side."""
    want, have = collections.Counter(expected), collections.Counter(found)
    if want == have:
        return None
    missing, extra = list((want - have).elements()), list((have - want).elements())
    lines = [f"{len(expected)} rows in the source, {len(found)} in the lake;"
             f" {len(missing)} missing or different, {len(extra)} that the source does not have"]
    for title, rows in (("only in the source", missing), ("only in the lake", extra)):
        for row in sorted(rows, key=repr)[:MAX_SHOWN]:
            lines.append(f"  {title}: {_short(row)}")
    return "\n".join(lines)


def _short(row):
    texts = [t if len(t) <= 80 else f"{t[:60]}… ({len(t)} characters)" for t in map(repr, row)]
    return "(" + ", ".join(texts) + ")"


def compare_table(database, lake, table, target=None):
    """A list of findings; empty means equal in both readers."""
    target = target or source.split_name(table)
    kinds, expected = source.read(database, table)
    findings = []
    for reader_class in READERS:
        try:
            reader = reader_class(lake, target)
        except Exception as e:  # a reader that cannot open the table is a finding like any other
            findings.append(f"{table} in {reader_class.name}: cannot be opened: {e}")
            continue
        try:
            findings += [f"{table} in {reader.name}, {what}: {text}"
                         for what, text in _checks(reader, kinds, expected) if text]
        except Exception as e:
            findings.append(f"{table} in {reader.name}: {type(e).__name__}: {e}")
        finally:
            reader.close()
    return findings


def assert_equal(database, lake, table, target=None):
    findings = compare_table(database, lake, table, target)
    assert not findings, "\n".join(findings)


def _checks(reader, kinds, expected):
    names = list(kinds)
    yield "all rows", difference(expected, rows_of(reader.rows(names), kinds))
    count = reader.count()
    yield "count(*)", None if count == len(expected) else f"{count}, the source has {len(expected)}"
    yield from _filtered(reader, kinds, expected)
    if len(names) > 1:
        # The first column is the key in nearly every test table: a projection without it still applies all deletes.
        rest = dict(list(kinds.items())[1:])
        yield "projection without the first column", difference(
            [row[1:] for row in expected], rows_of(reader.rows(list(rest)), rest))
    if isinstance(reader, DuckDbReader):
        want = [sum(row[i] is not None for row in expected) for i in range(len(names))]
        have = reader.count_present(names)
        yield "count(column)", None if want == have else f"{have}, the source has {want} for {names}"


def _filtered(reader, kinds, expected):
    for i, (name, kind) in enumerate(kinds.items()):
        present = sorted({row[i] for row in expected if row[i] is not None}) if kind in ("int", "string") else []
        if not present:
            continue
        value = present[len(present) // 2]
        if "." in name and isinstance(reader, PyIcebergReader):
            continue  # pyarrow takes the dot of a filter's column for a step into a struct
        yield (f"where {name} = {value!r:.60}", difference(
            [row for row in expected if row[i] == value], rows_of(reader.rows(list(kinds), equal=(name, value)), kinds)))
        if kind == "int":
            yield (f"where {name} > {value}", difference(
                [row for row in expected if row[i] is not None and row[i] > value],
                rows_of(reader.rows(list(kinds), greater=(name, value)), kinds)))
