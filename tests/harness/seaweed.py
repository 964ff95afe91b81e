"""A real S3 server (SeaweedFS) on loopback, with one bucket and static keys."""

import json
import pathlib
import shutil
import sys

import boto3
import botocore.config
import requests

from harness.process import end, free_port, spawn, tail, temp_folder, wait_for
from harness.readers import S3Access

ACCESS_KEY = "fjordtest"
SECRET_KEY = "fjordtestsecret"
REGION = "us-east-1"


def _port_pair():
    """SeaweedFS listens for gRPC on port + 10000 too."""
    while True:
        port = free_port()
        if port < 50000:
            return port


class SeaweedServer:
    def __init__(self, bucket="lake"):
        self.folder = temp_folder("s3")
        self.bucket = bucket
        self.log = self.folder / "weed.log"
        data = self.folder / "data"
        data.mkdir()
        identities = {"identities": [{
            "name": "test",
            "credentials": [{"accessKey": ACCESS_KEY, "secretKey": SECRET_KEY}],
            "actions": ["Admin", "Read", "List", "Tagging", "Write"]}]}
        (self.folder / "s3.json").write_text(json.dumps(identities))
        self.port = _port_pair()
        self.process = spawn(
            [_weed(), "server", f"-dir={data}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1",
             f"-master.port={_port_pair()}", f"-volume.port={_port_pair()}",
             "-filer=true", f"-filer.port={_port_pair()}", "-s3", f"-s3.port={self.port}",
             f"-s3.config={self.folder / 's3.json'}", "-master.volumeSizeLimitMB=64", "-volume.max=500"],
            log=self.log, cwd=self.folder)
        self.endpoint = f"http://127.0.0.1:{self.port}"
        wait_for(self._ready, 60, lambda: f"SeaweedFS is ready:\n{tail(self.log)}", poll_s=0.2)
        wait_for(self._make_bucket, 30, lambda: f"a bucket can be made:\n{tail(self.log)}", poll_s=0.2)

    def _ready(self):
        assert self.process.poll() is None, f"SeaweedFS ended:\n{tail(self.log)}"
        try:
            return requests.get(f"{self.endpoint}/healthz", timeout=2).status_code == 200
        except requests.RequestException:
            return False

    def _make_bucket(self):
        try:
            self.client().create_bucket(Bucket=self.bucket)
            return True
        except Exception:  # the filer may still be starting; the deadline of the caller decides
            return False

    def client(self):
        return boto3.client(
            "s3", endpoint_url=self.endpoint, region_name=REGION,
            aws_access_key_id=ACCESS_KEY, aws_secret_access_key=SECRET_KEY,
            config=botocore.config.Config(s3={"addressing_style": "path"}, retries={"max_attempts": 2}))

    def access(self):
        return S3Access(self.endpoint, ACCESS_KEY, SECRET_KEY, REGION)

    def storage_config(self):
        """The `lake.storage` section; the keys come from the environment (environment())."""
        return {"s3": {"endpoint": self.endpoint, "region": REGION, "pathStyle": True, "credential": {
            "accessKeyId": {"env": "TEST_S3_KEY"}, "secretAccessKey": {"env": "TEST_S3_SECRET"}}}}

    @staticmethod
    def environment():
        return {"TEST_S3_KEY": ACCESS_KEY, "TEST_S3_SECRET": SECRET_KEY}

    def remove(self):
        # SIGTERM takes half a minute; nothing here is worth a clean stop.
        end(self.process)
        shutil.rmtree(self.folder, ignore_errors=True)


def _weed():
    path = pathlib.Path(sys.executable).parent / "weed"
    assert path.exists(), f"{path} is missing: run tools/setup"
    return path
