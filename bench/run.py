#!/usr/bin/env python3
"""`make bench`: measures Fjord beside the bare reference of each measure, on this machine, in this run.

    bench/run.py                          all measures
    bench/run.py first-copy drain         only these; results of the others stay as they were
    bench/run.py --scale 0.1 latency-10k  a quick look (not written down)

Writes bench/results/latest.json and the table between the markers in docs/performance.md.
"""

import argparse
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests")]

import report  # noqa: E402
from measures import drain, first_copy, latency, memory, row_index  # noqa: E402

# memory comes last: it sums up the peaks of the runs before it.
MEASURES = {
    "first-copy": first_copy.measure,
    "drain": drain.measure,
    "latency-10k": latency.measure,
    "row-index": row_index.measure,
    "memory": memory.measure,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("measures", nargs="*", metavar="MEASURE", help=", ".join(MEASURES))
    parser.add_argument("--scale", type=float, default=1.0, help="of the amount of data; below 1 nothing is written")
    arguments = parser.parse_args()
    if unknown := set(arguments.measures) - set(MEASURES):
        parser.error(f"no such measure: {', '.join(sorted(unknown))}")
    results = report.load()
    for name, measure in MEASURES.items():
        if arguments.measures and name not in arguments.measures:
            continue
        print(f"--- {name}", flush=True)
        result = {"name": name, **measure(arguments.scale, results)}
        results[name] = result
        print(report.line(result), flush=True)
        if arguments.scale >= 1:
            report.save(results, MEASURES)
    missed = [r["name"] for r in results.values() if report.missed(r)]
    print(f"bars missed: {', '.join(missed)}" if missed else "no bar missed")


if __name__ == "__main__":
    main()
