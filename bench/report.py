"""Results on disk: bench/results/latest.json, and the table of docs/performance.md."""

import json
import os
import pathlib
import platform
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]
LATEST = ROOT / "bench/results/latest.json"
PAGE = ROOT / "docs/performance.md"
BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"


def load():
    """Results by name; empty when there are none yet."""
    if not LATEST.exists():
        return {}
    return {m["name"]: m for m in json.loads(LATEST.read_text())["measures"]}


def save(results, order):
    document = {
        "measures": [results[name] for name in order if name in results],
        "machine": machine(),
        "commit": commit(),
    }
    LATEST.parent.mkdir(parents=True, exist_ok=True)
    LATEST.write_text(json.dumps(document, indent=2) + "\n")
    _write_table(document)


def machine():
    cpu = re.search(r"^model name\s*:\s*(.+)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    memory = re.search(r"^MemTotal:\s*(\d+)", pathlib.Path("/proc/meminfo").read_text(), re.M)
    return {
        "cpu": cpu.group(1) if cpu else platform.machine(),
        "cores": os.cpu_count(),
        "memory_gib": round(int(memory.group(1)) / (1 << 20), 1),
        "kernel": platform.release(),
    }


def commit():
    done = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip()


def missed(result):
    """Whether a bar of the result (a dict field → [comparison, limit]) is not kept."""
    return any(not _kept(result.get(field), *bar) for field, bar in result.get("bars", {}).items())


def _kept(value, comparison, limit):
    return value is not None and (value >= limit if comparison == ">=" else value <= limit if comparison == "<="
                                  else value < limit)


def line(result):
    ratio = f", {result['ratio']:.2f} of the reference {_number(result['reference'])}" if result.get("ratio") else ""
    rest = ", ".join(f"{k} {_number(v)}" for k, v in result.items()
                     if isinstance(v, (int, float)) and k not in ("value", "reference", "ratio"))
    return f"{result['name']}: {_number(result['value'])} {result['unit']}{ratio}" + (f" ({rest})" if rest else "")


def _number(value):
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _write_table(document):
    m = document["machine"]
    rows = ["| measure | value | reference | ratio | more | bar |", "|---|---|---|---|---|---|"]
    for r in document["measures"]:
        more = "; ".join(f"{k} {_number(v)}" for k, v in r.items()
                         if isinstance(v, (int, float)) and k not in ("value", "reference", "ratio"))
        bars = "; ".join(f"{field} {c} {limit:g}{'' if _kept(r.get(field), c, limit) else ' **missed**'}"
                         for field, (c, limit) in r.get("bars", {}).items())
        reference = f"{_number(r['reference'])}" if r.get("reference") else "–"
        ratio = f"{r['ratio']:.2f}" if r.get("ratio") else "–"
        rows.append(f"| {r['name']} | {_number(r['value'])} {r['unit']} | {reference} | {ratio} | {more} | {bars} |")
    text = "\n".join([BEGIN, f"{m['cpu']}, {m['cores']} cores, {m['memory_gib']} GiB; commit {document['commit']}.", "",
                      *rows, END])
    if PAGE.exists() and BEGIN in (page := PAGE.read_text()):
        PAGE.write_text(re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: text, page, flags=re.S))
    else:
        PAGE.parent.mkdir(exist_ok=True)
        PAGE.write_text(f"# Performance\n\n`make bench` measures each number beside its bare reference on the same machine "
                        f"in the same run.\n\n{text}\n")
