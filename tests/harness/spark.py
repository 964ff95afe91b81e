"""One Spark session with the Iceberg runtime, as small as it gets. `tools/setup --ci` installs both."""

from harness.process import ROOT

RUNTIME = ROOT / ".cache/java/spark-runtime"


def start():
    from pyspark.sql import SparkSession
    jars = list(RUNTIME.glob("iceberg-spark-runtime-*.jar"))
    assert jars, "the Iceberg runtime for Spark is not installed: tools/setup --ci"
    options = {
        "spark.jars": str(jars[0]),
        "spark.driver.memory": "600m",
        "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    }
    builder = SparkSession.builder.master("local[1]")
    for name, value in options.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def add_catalog(session, name, uri):
    """A REST catalog under `name`; the session may learn of new ones at any time."""
    prefix = f"spark.sql.catalog.{name}"
    session.conf.set(prefix, "org.apache.iceberg.spark.SparkCatalog")
    session.conf.set(f"{prefix}.type", "rest")
    session.conf.set(f"{prefix}.uri", uri)
    session.conf.set(f"{prefix}.cache-enabled", "false")
