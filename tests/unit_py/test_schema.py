"""`fjord schema` against files that are right and files that are wrong.

Wrong files are given to the program too: what the schema refuses, the program refuses (exit 78), so an editor never
complains about a file that works. The program knows more (ranges, conditions between distant keys).
"""

import copy
import json
import pathlib
import re
import subprocess

import jsonschema
import pytest
import yaml

from harness.fjord import EXIT_CONFIG, binary
from harness.process import ROOT

MINIMAL = {
    "replications": {
        "shop": {
            "source": {"postgres": {"url": "postgres://fjord@127.0.0.1:1/shop"}},
            "lake": {"catalog": {"embedded": {"path": "./lake"}}},
            "tables": ["public.orders"],
        }
    }
}


def changed(path, value):
    """MINIMAL with `value` at the dotted path; a value of None takes the key away."""
    config = copy.deepcopy(MINIMAL)
    at = config
    *steps, last = path.split(".")
    for step in steps:
        at = at.setdefault(step, {})
    if value is None:
        at.pop(last)
    else:
        at[last] = value
    return config


SHOP = "replications.shop."
REST = {"rest": {"uri": "https://catalog.example/iceberg", "warehouse": "w", "credential": {"env": "C"}, "scope": "s"}}
S3 = {"endpoint": "http://127.0.0.1:9000", "region": "eu-central-1", "pathStyle": True,
      "credential": {"accessKeyId": {"env": "A"}, "secretAccessKey": {"file": "/run/s"}}}

GOOD = {
    "minimal": MINIMAL,
    "rest catalog": changed(SHOP + "lake", {"catalog": REST, "storage": {"s3": S3}, "formatVersion": 2}),
    "s3 warehouse": changed(SHOP + "lake.catalog.embedded.warehouse", "s3://bucket/prefix"),
    "long form of a table": changed(SHOP + "tables", [
        "inventory.*", '"My schema"."a.b"',
        {"source": "public.events", "target": "analytics.events", "appendOnly": True, "onDivergence": "block"}]),
    "thresholds": changed(SHOP + "publish", {"every": "2s", "rows": 1, "bytes": "1MiB"}),
    "snapshots": changed(SHOP + "snapshots", {"keep": "7d", "atLeast": 1, "atMost": 500}),
    "policies": changed(SHOP + "tableDefaults", {"onUnrepresentable": "block", "externalWrites": "block",
                                                 "arrays": "text"}),
    "limits": changed(SHOP + "memory", "1GiB"),
    "server": changed("server", {"listen": "[::1]:8080"}),
    "folders": changed("stateDir", "/var/cache/fjord"),
}

BAD = {
    "no replications": {},
    "empty replications": {"replications": {}},
    "unknown section": changed("sever", {"listen": "127.0.0.1:1"}),
    "section of a later version": changed("captures", {}),
    "name of a replication": {"replications": {"My-Shop": MINIMAL["replications"]["shop"]}},
    "no tables": changed(SHOP + "tables", None),
    "empty tables": changed(SHOP + "tables", []),
    "table without schema": changed(SHOP + "tables", ["orders"]),
    "table without source": changed(SHOP + "tables", [{"target": "a.b"}]),
    "partitionBy is not yet": changed(SHOP + "tables", [{"source": "a.b", "partitionBy": ["day(at)"]}]),
    "unknown key of a table": changed(SHOP + "tables", [{"source": "a.b", "append_only": True}]),
    "no source": changed(SHOP + "source", None),
    "source without url": changed(SHOP + "source.postgres", {"slot": "a"}),
    "url of another database": changed(SHOP + "source.postgres.url", "mysql://h/d"),
    "slot name": changed(SHOP + "source.postgres.slot", "My-Slot"),
    "password as text": changed(SHOP + "source.postgres.password", "hunter2"),
    "password from two places": changed(SHOP + "source.postgres.password", {"env": "A", "file": "b"}),
    "two catalogs": changed(SHOP + "lake.catalog", {**REST, "embedded": {"path": "x"}}),
    "no catalog": changed(SHOP + "lake.catalog", {}),
    "token beside credential": changed(SHOP + "lake.catalog", {"rest": {**REST["rest"], "token": {"env": "T"}}}),
    "scope alone": changed(SHOP + "lake.catalog", {"rest": {"uri": "http://c", "scope": "s"}}),
    "catalog address": changed(SHOP + "lake.catalog", {"rest": {"uri": "catalog:8181"}}),
    "warehouse of another store": changed(SHOP + "lake.catalog.embedded.warehouse", "gs://bucket"),
    "format version 3": changed(SHOP + "lake.formatVersion", 3),
    "format version as text": changed(SHOP + "lake.formatVersion", "2"),
    "duration without unit": changed(SHOP + "publish.every", 500),
    "duration unit": changed(SHOP + "publish.every", "5min"),
    "size unit": changed(SHOP + "publish.bytes", "64MB"),
    "zero rows": changed(SHOP + "publish.rows", 0),
    "boolean as text": changed(SHOP + "tables", [{"source": "a.b", "appendOnly": "yes"}]),
    "policy value": changed(SHOP + "tableDefaults.onDivergence", "ignore"),
    "arrays as lists": changed(SHOP + "tableDefaults.arrays", "list"),
    "workers": changed(SHOP + "workers", 0),
    "listen without port": changed("server", {"listen": "127.0.0.1"}),
    "folder as number": changed("stateDir", 1),
}


@pytest.fixture(scope="module")
def schema():
    done = subprocess.run([binary(), "schema"], capture_output=True, text=True, check=True, timeout=20)
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def validator(schema):
    return jsonschema.Draft202012Validator(schema)


def test_the_schema_is_a_schema(schema):
    jsonschema.Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("name", GOOD)
def test_right_files_are_accepted(validator, name):
    errors = [error.message for error in validator.iter_errors(GOOD[name])]
    assert errors == []


@pytest.mark.parametrize("name", BAD)
def test_wrong_files_are_refused_by_both(validator, name, tmp_path):
    assert not validator.is_valid(BAD[name])
    file = tmp_path / "fjord.yaml"
    file.write_text(yaml.safe_dump(BAD[name], sort_keys=False))
    done = subprocess.run([binary(), "check", "--config", file], capture_output=True, text=True, timeout=20)
    assert done.returncode == EXIT_CONFIG, done.stderr
    assert str(file) in done.stderr
    assert "hunter2" not in done.stderr


def examples():
    """The configuration files that we show: examples/ and the YAML blocks of README and guide."""
    for path in sorted((ROOT / "examples").glob("**/*.yaml")):
        yield pytest.param(path.read_text(), id=path.name)
    for page in ("README.md", "docs/guide.md"):
        blocks = re.findall(r"```yaml\n(.*?)```", pathlib.Path(ROOT / page).read_text(), re.DOTALL)
        for number, block in enumerate(blocks, 1):
            if "replications:" in block:
                yield pytest.param(block, id=f"{page}-{number}")


@pytest.mark.parametrize("text", list(examples()))
def test_what_we_show_is_right(validator, text):
    errors = [error.message for error in validator.iter_errors(yaml.safe_load(text))]
    assert errors == []
