"""The usual end of a test under load: writers stop, Fjord catches up, every table equals its source."""

from harness import source
from harness.compare import compare_table
from harness.process import tail


def assert_tables_equal(fjord, lake=None, deadline_s=90):
    fjord.wait_caught_up(deadline_s)
    findings = []
    for name, target in fjord.source_tables():
        findings += compare_table(fjord.database, lake or fjord.lake, name, target)
    assert not findings, "\n".join(findings) + f"\nlog:\n{tail(fjord.log)}"
    assert all(fjord.database.value(f"SELECT count(*) FROM {source.sql_name(n)}") > 0
               for n, _ in fjord.source_tables()), "a table is empty: the comparison says little"
