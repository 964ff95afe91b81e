"""Look-ups with update per second on one core at 10 M rows: the micro-benchmark of src/lake."""

import json
import subprocess

from harness.process import ROOT

PROGRAM = ROOT / "build/release/bin/lake_bench"
# Names of the benchmarks in src/lake/row_index_bench.cc.
LOOKUP_WITH_UPDATE = "RowIndexLookupUpdate"


def measure(scale, results):
    done = subprocess.run([PROGRAM, f"--benchmark_filter={LOOKUP_WITH_UPDATE}", "--benchmark_format=json"],
                          capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    runs = [b for b in json.loads(done.stdout)["benchmarks"] if b["run_type"] == "iteration"]
    assert runs, f"{PROGRAM.name} has no benchmark {LOOKUP_WITH_UPDATE}"
    largest = max(runs, key=lambda b: int(b["name"].split("/")[1]) if "/" in b["name"] else 0)
    return {"value": round(largest["items_per_second"]), "unit": "look-ups with update/s", "reference": None,
            "ratio": None, "aim": 3_000_000, "benchmark": largest["name"], "bars": {}}
