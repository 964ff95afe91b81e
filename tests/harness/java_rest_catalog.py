"""The Iceberg community's REST catalog (Java), independent of Fjord's code. `tools/setup --ci` installs it."""

import shutil

from harness.fjord import answers
from harness.process import ROOT, end, free_port, spawn, tail, temp_folder, wait_for
from harness.readers import RestLake

JARS = ROOT / ".cache/java/rest-catalog"
CLASSES = ROOT / ".cache/java/classes"


def installed():
    return (CLASSES / "RestCatalog.class").exists() and shutil.which("java") is not None


class JavaRestCatalog:
    def __init__(self):
        assert installed(), "the Java REST catalog is not installed: tools/setup --ci"
        self.folder = temp_folder("rest")
        self.warehouse = self.folder / "warehouse"
        self.warehouse.mkdir()
        self.port = free_port()
        self.log = self.folder / "catalog.log"
        self.process = spawn(
            ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{CLASSES}:{JARS}/*",
             "RestCatalog", self.port, self.folder / "catalog.db", self.warehouse], log=self.log)
        self.uri = f"http://127.0.0.1:{self.port}"
        self.lake = RestLake(self.uri)
        wait_for(lambda: answers(self.process, self.log, f"{self.uri}/v1/config"), 60,
                 lambda: f"the Java catalog answers:\n{tail(self.log)}", poll_s=0.2)

    def config(self):
        """The `lake` section that names this catalog."""
        return {"catalog": {"rest": {"uri": self.uri}}}

    def remove(self):
        end(self.process)
        shutil.rmtree(self.folder, ignore_errors=True)
