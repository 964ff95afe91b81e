"""Look-ups with update per second on one core at 10 M rows, beside the standard library's hash map in memory."""

import json
import os
import subprocess
import tempfile

from harness.process import ROOT

ROWS = 10_000_000
PROGRAM = ROOT / "build/release/bin/lake_bench"
# Names of the benchmarks in src/lake/row_index_bench.cc.
OURS, BARE = "LookUpWithUpdate", "ReferenceUnorderedMap"


def measure(scale, results):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [PROGRAM, f"--benchmark_filter=^({OURS}|{BARE})", "--benchmark_format=json"],
            env={**os.environ, "FJORD_BENCH_ROWS": str(int(ROWS * scale)), "FJORD_BENCH_FOLDER": folder},
            capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr
    runs = {b["name"].split("/")[0]: b for b in json.loads(done.stdout)["benchmarks"]}
    value, reference = (runs[name]["items_per_second"] for name in (OURS, BARE))
    return {"value": round(value), "unit": "look-ups with update/s", "reference": round(reference),
            "ratio": round(value / reference, 3), "rows": int(runs[OURS]["rows"]),
            "file_bytes_per_row": round(runs[OURS]["file_bytes_per_row"], 1), "aim": 3_000_000, "bars": {}}
