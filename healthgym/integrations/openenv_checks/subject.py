"""A server of a package as a process of this machine, where OpenEnv's provider starts a container.

The process runs the command of the package's Dockerfile in an empty folder. It is started in a
network namespace of its own, which holds a loopback interface that is down, and so has no network;
it answers on a socket that was opened before, outside. What it does not have is a container's
walls: it runs as this user, sees this user's files, and may hold as much memory as anybody.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from healthgym.core.borders import JsonDict
from healthgym.core.optional import require
from healthgym.errors import ConfigurationError

require("openenv.validation", extra="openenv", purpose="The validation of an OpenEnv package")

from openenv.validation import ExecResult, ProviderCapability  # noqa: E402
from openenv.validation.providers import StartupError  # noqa: E402
from openenv.validation.runner import source_digest  # noqa: E402

if TYPE_CHECKING:
    from openenv.validation import ExecutionDeclaration
    from openenv.validation.runtime.contracts import LaunchSpec

_ALONE = ("unshare", "--user", "--map-root-user", "--net")
#: Connects to an address and says what came of it: 0 reached, otherwise the error's number.
_PROBE = """
import socket, sys
try:
    socket.create_connection((sys.argv[1], int(sys.argv[2])), timeout=3).close()
    print(0)
except OSError as error:
    print(error.errno or -1)
"""
_DENIED = {errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EACCES, errno.EPERM, errno.EADDRNOTAVAIL}


class ProcessProvider:
    """Starts packages as processes (``openenv.validation.ValidationProvider``)."""

    name = "healthgym-process"
    capabilities = frozenset(
        {
            ProviderCapability.EXEC,
            ProviderCapability.IMAGE_BUILD,
            ProviderCapability.NETWORK_POLICY,
        }
    )
    supported_network_modes = frozenset({"no-network"})

    def __init__(self) -> None:
        self._command: list[str] = []
        probe = [*_ALONE, "true"]
        if shutil.which(_ALONE[0]) is None or subprocess.run(probe, check=False).returncode:
            raise ConfigurationError(
                "This machine lets nobody make a network namespace (unshare --user --net), which "
                "is how a package is run here without a network."
            )

    def build(self, root: Path, execution: ExecutionDeclaration) -> str:
        """Read the command of the package's Dockerfile; what is run is the healthgym of here."""
        recipe = (root / execution.dockerfile).read_text("utf-8")
        (found,) = re.findall(r"^CMD (\[.*\])$", recipe, re.MULTILINE)
        self._command = json.loads(found)
        return f"sha256:{source_digest(root)}"

    def start(self, spec: LaunchSpec) -> ProcessSubject:
        """Start a server and wait until it is healthy."""
        subject = ProcessSubject(self._command)
        deadline = time.monotonic() + spec.startup_timeout_s
        while not subject.healthy():
            if time.monotonic() > deadline or not subject.alive:
                told = subject.logs()
                subject.stop()
                raise StartupError(f"the server did not become healthy: {told[-1000:]}")
            time.sleep(0.1)
        return subject


class ProcessSubject:
    """A running server (``openenv.validation.RunningSubject``).

    Args:
        command: What its image runs.

    Attributes:
        base_url: Its address.
        folder: The folder it runs in.
    """

    def __init__(self, command: list[str]) -> None:
        self._held = tempfile.TemporaryDirectory()
        self.folder = Path(self._held.name) / "served"
        self.folder.mkdir()
        self._log = Path(self._held.name) / "log"
        listening = socket.create_server(("127.0.0.1", 0))
        self.base_url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        program = [sys.executable, "-m", "healthgym", *command[1:], f"--fd={listening.fileno()}"]
        self.begun = time.monotonic()
        with self._log.open("wb") as log, listening:
            self._process = subprocess.Popen(
                [*_ALONE, *program], cwd=self.folder, stdout=log, stderr=log,
                stdin=subprocess.DEVNULL, pass_fds=[listening.fileno()], start_new_session=True,
            )  # fmt: skip

    @property
    def alive(self) -> bool:
        """Whether the process goes on."""
        return self._process.poll() is None

    def healthy(self) -> bool:
        """Return whether the server says that it is well."""
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with suppress(OSError), closing(opener.open(f"{self.base_url}/health", timeout=1)) as told:
            return bool(told.status == 200)
        return False

    def inspect(self) -> JsonDict:
        """Return what is known of the process."""
        return {"provider": ProcessProvider.name, "peak_mib": self.peak_mib()}

    def peak_mib(self) -> float:
        """Return the largest memory it has held, in MiB."""
        status = Path(f"/proc/{self._process.pid}/status").read_text("ascii")
        (found,) = re.findall(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
        return round(int(found) / 1024, 1)

    def children(self) -> int:
        """Return how many processes it has started."""
        task = Path(f"/proc/{self._process.pid}/task")
        return sum(len((each / "children").read_text("ascii").split()) for each in task.iterdir())

    def logs(self, max_bytes: int = 65536) -> str:
        """Return the end of what it wrote."""
        return self._log.read_bytes()[-max_bytes:].decode("utf-8", "replace")

    def exec(self, argv: list[str], timeout_s: float) -> ExecResult:
        """Run a command in its folder."""
        begun = time.monotonic()
        done = subprocess.run(
            argv, cwd=self.folder, capture_output=True, text=True, timeout=timeout_s, check=False
        )
        return ExecResult(done.returncode, done.stdout, done.stderr, time.monotonic() - begun)

    def stop(self) -> None:
        """End it, and remove its folder."""
        if self.alive:
            os.killpg(self._process.pid, signal.SIGTERM)
            try:
                self._process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._held.cleanup()

    def measure_network(self) -> JsonDict:
        """Try to reach a listener of this machine from here and from the server's namespace."""
        with socket.create_server(("0.0.0.0", 0)) as sink:
            thread = threading.Thread(target=_accept, args=(sink,), daemon=True)
            thread.start()
            address = [_own_address(), str(sink.getsockname()[1])]
            inside = ["nsenter", f"--target={self._process.pid}", "--user", "--net",
                      "--preserve-credentials"]  # fmt: skip
            probe = [sys.executable, "-c", _PROBE, *address]
            outcomes = {"control": _outcome(probe), "subject": _outcome([*inside, *probe])}
            sink.shutdown(socket.SHUT_RDWR)
            thread.join()
        seen = Path(f"/proc/{self._process.pid}/net")
        devices = re.findall(r"^\s*([\w.-]+):", (seen / "dev").read_text("ascii"), re.MULTILINE)
        routes = (seen / "route").read_text("ascii").splitlines()[1:]
        inet6 = seen / "if_inet6"
        addresses = inet6.read_text("ascii").splitlines() if inet6.exists() else []
        return {
            "schema_version": 1,
            "requested_mode": "no-network",
            "subject_network_mode": "none",
            "namespace": {
                "interfaces": devices,
                "default_route": any(line.split()[1] == "00000000" for line in routes),
                "ipv6_non_loopback": sum(line.split()[-1] != "lo" for line in addresses),
                "listening_ports": [],
            },
            "probes": [{"kind": "tcp", **outcomes}],
        }


def _accept(sink: socket.socket) -> None:
    with suppress(OSError):
        while True:
            sink.accept()[0].close()


def _own_address() -> str:
    """Return an address of this machine by which others reach it; loopback if it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking, suppress(OSError):
        asking.connect(("192.0.2.1", 9))  # RFC 5737: nobody's; nothing is sent
        return str(asking.getsockname()[0])
    return "127.0.0.1"


def _outcome(probe: list[str]) -> JsonDict:
    done = subprocess.run(probe, capture_output=True, text=True, timeout=20, check=False)
    number = int(done.stdout) if done.returncode == 0 else -1
    if number == 0:
        return {"result": "reachable", "errno": None}
    result = "denied" if number in _DENIED else "inconclusive"
    return {"result": result, "errno": number if number > 0 else None}
