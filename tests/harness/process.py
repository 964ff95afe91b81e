"""Child processes that cannot outlive the test run, free ports, and waiting for conditions with a deadline."""

import ctypes
import os
import pathlib
import pwd
import signal
import socket
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


def spawn(argv, *, log, user=None, env=None, cwd=None, death_signal=signal.SIGKILL):
    """Starts a process whose output goes to the file `log`; the kernel ends it when this thread ends.

    Call it from the main thread: the death signal is tied to the thread that made the child.
    """

    def before_exec():
        _libc.prctl(PR_SET_PDEATHSIG, death_signal)

    identity = {}
    if user is not None and os.getuid() == 0:
        entry = pwd.getpwnam(user)
        identity = dict(user=entry.pw_uid, group=entry.pw_gid, extra_groups=[])
    with open(log, "ab") as out:
        return subprocess.Popen(
            [str(a) for a in argv],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=env,
            cwd=cwd,
            preexec_fn=before_exec,
            start_new_session=True,
            **identity,
        )


def end(process, sig=signal.SIGKILL, deadline_s=20):
    """Sends `sig` unless the process has ended, waits for it, returns its exit code."""
    if process.poll() is None:
        process.send_signal(sig)
    try:
        return process.wait(deadline_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        raise AssertionError(f"process {process.pid} did not end {deadline_s} s after signal {sig}") from None


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def temp_folder(prefix):
    """A new folder under the system's temporary folder that other users may enter."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix=f"fjord-{prefix}-"))
    folder.chmod(0o755)
    return folder


def wait_for(condition, deadline_s, what, poll_s=0.05):
    """Calls `condition` until it returns something true, and returns that; fails loudly at the deadline.

    `what` is a text, or a function that makes one when the deadline has passed.
    """
    end_at = time.monotonic() + deadline_s
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end_at:
            text = what() if callable(what) else what
            raise AssertionError(f"not after {deadline_s} s: {text}")
        time.sleep(poll_s)


def tail(path, lines=40):
    path = pathlib.Path(path)
    if not path.exists():
        return "(no log)"
    return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])
