"""The program dies by SIGKILL at each named step of an epoch and goes on afterwards, with and without its state.

FJORD_TEST_KILL_AT=<step>[:<n>] makes it die at the n-th time that it reaches the step (src/base/kill_point.h).
"""

import signal

import pytest

from harness import workload
from harness.process import tail
from harness.quiet import assert_tables_equal
from harness.workload import Workload

STEPS = ["after-collapse", "after-data-written", "before-commit", "after-commit", "after-redo", "after-apply",
         "before-confirm", "after-confirm"]


def die_at(fjord, step):
    fjord.start(kill_at=step)
    code = fjord.wait_exit()
    assert code == -signal.SIGKILL, f"ended with {code}, not at {step}:\n{tail(fjord.log)}"


@pytest.mark.parametrize("step", STEPS)
def test_dies_while_streaming(database, make_fjord, step):
    """At the first time with its state kept, at the third with its state removed."""
    workload.create(database, rows=100)
    fjord = make_fjord(workload.CONFIG)
    fjord.start()
    fjord.wait_caught_up()
    fjord.stop()
    with Workload(database, writers=2) as w:
        w.wait_transactions(100)
        die_at(fjord, step)
        die_at(fjord, f"{step}:3")
        fjord.remove_state()
    fjord.start()
    assert_tables_equal(fjord)


@pytest.mark.parametrize("step, state", [
    ("copy-half", "kept"), ("copy-half", "removed"), ("before-commit", "kept"), ("after-commit", "removed"),
    ("before-confirm", "removed")])
def test_dies_during_first_copy(database, make_fjord, step, state):
    workload.create(database, rows=100)
    fjord = make_fjord(workload.CONFIG)
    with Workload(database, writers=2):
        die_at(fjord, step)
        if state == "removed":
            fjord.remove_state()
        fjord.start()
    assert_tables_equal(fjord)
