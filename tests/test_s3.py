"""The lake on a real S3 server (SeaweedFS): embedded catalog, data and metadata in a bucket."""

import pytest

from harness import workload
from harness.fjord import CatalogServer
from harness.process import temp_folder
from harness.quiet import assert_tables_equal
from harness.readers import EmbeddedLake
from harness.seaweed import SeaweedServer
from harness.workload import Workload


@pytest.fixture(scope="module")
def s3():
    server = SeaweedServer()
    yield server
    server.remove()


@pytest.fixture
def s3_fjord(s3, database, make_fjord):
    import shutil
    folder = temp_folder("lake")
    warehouse = f"s3://{s3.bucket}/{database.name}"
    workload.create(database)
    yield make_fjord(
        workload.CONFIG, environment=s3.environment(),
        lake=EmbeddedLake(folder, warehouse=warehouse, s3=s3.access()),
        lake_config={"catalog": {"embedded": {"path": str(folder), "warehouse": warehouse}},
                     "storage": s3.storage_config()})
    shutil.rmtree(folder)


def test_writers_and_a_kill(s3_fjord, s3, database):
    s3_fjord.start()
    s3_fjord.wait_caught_up()
    with Workload(database) as w:
        w.wait_transactions(400)
        s3_fjord.kill()
        s3_fjord.remove_state()
        s3_fjord.start()
        w.wait_transactions(400)
    assert_tables_equal(s3_fjord)
    listed = s3.client().list_objects_v2(Bucket=s3.bucket, Prefix=f"{database.name}/")
    assert any(o["Key"].endswith(".parquet") for o in listed["Contents"]), "data files are in the bucket"


def test_read_through_the_catalog_server(s3_fjord, database):
    s3_fjord.start()
    s3_fjord.wait_caught_up()
    catalog = CatalogServer(s3_fjord)
    with Workload(database) as w:
        w.wait_transactions(200)
    assert_tables_equal(s3_fjord, lake=catalog.lake)
    catalog.stop()
