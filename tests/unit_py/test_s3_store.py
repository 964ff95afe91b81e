"""Runs the tests of src/io that need an S3 server, against SeaweedFS.

The program is <build folder>/bin/io_test; the build folder is $FJORD_BUILD, else build/release.
"""

import os
import pathlib
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from harness.process import ROOT  # noqa: E402
from harness.seaweed import ACCESS_KEY, SECRET_KEY, SeaweedServer  # noqa: E402


def test_live():
    folder = pathlib.Path(os.environ.get("FJORD_BUILD", "build/release"))
    program = (folder if folder.is_absolute() else ROOT / folder) / "bin" / "io_test"
    if not program.exists():
        pytest.skip(f"{program} is not built")
    server = SeaweedServer()
    try:
        done = subprocess.run(
            [program, "--gtest_filter=S3StoreLive.*"], capture_output=True, text=True, timeout=280,
            env={**os.environ, "FJORD_TEST_S3_ENDPOINT": server.endpoint, "FJORD_TEST_S3_BUCKET": server.bucket,
                 "FJORD_TEST_S3_KEY": ACCESS_KEY, "FJORD_TEST_S3_SECRET": SECRET_KEY})
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
        assert "SKIPPED" not in done.stdout and "PASSED  ] 0 " not in done.stdout, done.stdout[-2000:]
        uploads = server.client().list_multipart_uploads(Bucket=server.bucket).get("Uploads", [])
        assert not uploads, "streams that were given up leave no parts"
    finally:
        server.remove()
