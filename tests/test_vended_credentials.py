"""S3 credentials that a REST catalog hands out with each table: `fjord run` is configured without any keys."""

import pytest

from harness import workload
from harness.fjord import CatalogServer
from harness.process import temp_folder, tail, wait_for
from harness.quiet import assert_tables_equal
from harness.readers import EmbeddedLake, RestLake
from harness.seaweed import ACCESS_KEY, REGION, SECRET_KEY, SeaweedServer
from harness.vending import S3Door, VendingCatalog
from harness.workload import Workload

TABLES = ["public.people", {"source": "public.events", "appendOnly": True}]
NO_KEYS = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SESSION_TOKEN": ""}


@pytest.fixture(scope="module")
def s3():
    server = SeaweedServer()
    yield server
    server.remove()


@pytest.fixture
def door(s3):
    d = S3Door(s3.endpoint, ACCESS_KEY, SECRET_KEY, REGION)
    yield d
    d.close()


@pytest.fixture
def make_catalog(s3, door, database, make_fjord):
    """A function that puts a vending catalog in front of a catalog server, whose own keys are static."""
    import shutil
    folder, warehouse = temp_folder("lake"), f"s3://{s3.bucket}/{database.name}"
    served = make_fjord(
        ["public.unused"], environment=s3.environment(), lake=EmbeddedLake(folder, warehouse=warehouse, s3=s3.access()),
        lake_config={"catalog": {"embedded": {"path": str(folder), "warehouse": warehouse}},
                     "storage": s3.storage_config()})
    server, made = CatalogServer(served), []

    def make(**options):
        made.append(VendingCatalog(server.uri, door, **options))
        return made[-1]

    yield make
    for catalog in made:
        catalog.close()
    server.stop()
    shutil.rmtree(folder)


@pytest.fixture
def make_keyless(database, make_fjord):
    """A function that makes a replication without keys whose tables are read without keys, too."""
    def make(catalog):
        workload.create(database)
        return make_fjord(TABLES, lake=RestLake(catalog.uri), environment=NO_KEYS,
                          lake_config={"catalog": {"rest": {"uri": catalog.uri}}},
                          replication={"publish": {"every": "500ms"}})  # fewer files to read back through Python
    return make


def assert_equal_and_discreet(fjord, catalog, door):
    catalog.lifetime_s = 600  # of the readers' keys; some of them read for longer than a key lives
    assert_tables_equal(fjord)
    assert "AccessDenied" not in door.refusals, "each table is reached with its own keys"
    assert "SignatureDoesNotMatch" not in door.refusals
    shown = [s for s in [*door.secrets(), SECRET_KEY] if s in fjord.log_text()]
    assert not shown, "secrets are in the log"


@pytest.mark.parametrize("in_config", [False, True], ids=["storage-credentials", "config"])
def test_keys_expire_again_and_again(make_catalog, make_keyless, door, database, in_config):
    catalog = make_catalog(lifetime_s=4, in_config=in_config)
    fjord = make_keyless(catalog)
    fjord.start()
    fjord.wait_caught_up()
    with Workload(database, pause_s=0.2) as w:
        wait_for(lambda: door.keys_used(catalog.location("public", "people")) >= 4, 60,
                 lambda: f"four keys of one table have been used:\n{tail(fjord.log)}")
        fjord.kill()
        fjord.remove_state()
        fjord.start()
        w.wait_transactions(50)
    assert_equal_and_discreet(fjord, catalog, door)
    assert (catalog.credentials_requests > 0) == (not in_config)
    fjord.stop()


@pytest.mark.parametrize("in_config", [False, True], ids=["storage-credentials", "config"])
def test_keys_end_before_their_time(make_catalog, make_keyless, door, database, in_config):
    catalog = make_catalog(lifetime_s=3600, in_config=in_config)
    fjord = make_keyless(catalog)
    fjord.start()
    fjord.wait_caught_up()
    with Workload(database) as w:
        for _ in range(3):
            before = len(door.refusals)
            door.end_all()
            wait_for(lambda: len(door.refusals) > before, 30, "a key is refused")
            w.wait_transactions(100)
    assert "ExpiredToken" in door.refusals
    assert_equal_and_discreet(fjord, catalog, door)
    fjord.stop()


def test_a_catalog_without_keys(make_catalog, make_keyless):
    fjord = make_keyless(make_catalog(lifetime_s=60, hands_out=False))
    fjord.start()
    assert fjord.wait_exit() != 0
    log = fjord.log_text()
    for text in ("lake.storage.s3.credential", "AWS_ACCESS_KEY_ID", "credential vending"):
        assert text in log, log


def test_configured_keys_and_address_go_first(make_catalog, make_keyless, door, database, s3):
    catalog = make_catalog(lifetime_s=60)
    fjord = make_keyless(catalog)
    fjord.config["replications"][fjord.name]["lake"]["storage"] = s3.storage_config()
    fjord.environment |= s3.environment()
    fjord.write_config()
    fjord.start()
    fjord.wait_caught_up()
    door_seen = door.keys_used(catalog.location("public", "people")) + len(door.refusals)
    assert door_seen == 0, "the door is the catalog's address, and is passed by"
    assert_equal_and_discreet(fjord, catalog, door)
    fjord.stop()
