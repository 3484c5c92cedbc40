"""Commands that belong to other parts of the package: train, report, bench and serve."""

from __future__ import annotations

import argparse
import subprocess
import sys
import threading
from collections.abc import Sequence
from datetime import datetime
from importlib import import_module
from typing import TYPE_CHECKING

from healthgym.cli import faces
from healthgym.cli.common import Commands, checkout, note, read_token, write
from healthgym.errors import ConfigurationError, MissingDataError

if TYPE_CHECKING:
    from healthgym.worlds.fhir import Base

#: Commands whose arguments are read by the part they belong to: its module, with a ``main(argv)``.
PASSED_ON = {
    "train": "healthgym.integrations.trl.command",
    "report": "healthgym.integrations.trl.report",
    "bench": "",
}
#: The time that MedAgentBench tells its agents, and the patients with histories on its server.
_NOW = "2023-11-13T10:15:00+00:00"
_FULL_SIZE = 100
_EXPOSED = (
    "Warning: whoever can reach this address can read and change all records; nobody is asked who "
    "he is (see --token-file), and nothing is encrypted."
)
_EXPOSED_WITH_TOKEN = (
    "Warning: this address can be reached from other machines, and nothing is encrypted, the token "
    "included."
)


def add_commands(commands: Commands) -> None:
    """Add the commands of this module."""
    commands.add_parser("train", help="SFT, then GRPO; resumes after a kill", add_help=False)
    commands.add_parser("report", help="the HTML report of a run", add_help=False)
    commands.add_parser("bench", help="how fast and how large", add_help=False)
    serve = commands.add_parser("serve", help="serve environments or a world to other programs")
    worlds = serve.add_subparsers(title="what", metavar="WHAT", required=True)
    fhir = worlds.add_parser("fhir", help="the record world as a FHIR R4 server, in memory")
    fhir.add_argument("--host", default="127.0.0.1", help="address (default: 127.0.0.1)")
    fhir.add_argument("--port", type=int, default=8080, help="0 for a free one (default: 8080)")
    fhir.add_argument(
        "--allow-remote", action="store_true", help="permit an address others can reach"
    )
    fhir.add_argument(
        "--allow-host",
        metavar="NAME",
        action="append",
        default=[],
        help="a further name by which clients may call the server; repeatable",
    )
    fhir.add_argument(
        "--token-file",
        metavar="FILE",
        help="file with a token that clients must send as 'Authorization: Bearer TOKEN'",
    )
    source = fhir.add_mutually_exclusive_group()
    source.add_argument("--bundles", metavar="DIR", help="folder of FHIR R4 bundles")
    source.add_argument("--chart", metavar="DIR", help="folder of a saved chart")
    source.add_argument(
        "--synthetic",
        type=int,
        metavar="N",
        default=10,
        help="N synthetic patients with histories and 6 N without (default: 10; 100 is full size)",
    )
    fhir.add_argument("--seed", type=int, default=0, help="of the synthetic patients")
    fhir.add_argument("--now", default=_NOW, help=f"the server's time (default: {_NOW})")
    fhir.set_defaults(run=serve_fhir)
    faces.add_served(worlds)


def pass_on(command: str, argv: Sequence[str]) -> int:
    """Run a command that reads its own arguments, and return its exit status."""
    if command == "bench":
        return _bench(argv)
    status = import_module(PASSED_ON[command]).main(list(argv))
    return int(status or 0)


def delegate(command: str) -> argparse.ArgumentParser | None:
    """Return the parser of a command that reads its own arguments; None where there is none."""
    module = PASSED_ON.get(command)
    made: argparse.ArgumentParser | None = import_module(module).parser() if module else None
    return made


def _bench(argv: Sequence[str]) -> int:
    root = checkout()
    script = root / "benchmarks" / "run.py" if root else None
    if script is None or not script.is_file():
        raise MissingDataError(
            "`healthgym bench` runs the scripts in benchmarks/, which only a source checkout has; "
            "clone the repository, `pip install -e .` there, and run it again."
        )
    return subprocess.run([sys.executable, str(script), *argv], check=False).returncode


def serve_fhir(args: argparse.Namespace) -> int:
    """Serve a record store until interrupted."""
    from healthgym.core.clock import Clock
    from healthgym.worlds.fhir import FhirStore
    from healthgym.worlds.fhir.doorkeeper import is_loopback
    from healthgym.worlds.fhir.server import serve

    try:
        now = datetime.fromisoformat(args.now)
    except ValueError:
        raise ConfigurationError(f"--now takes an ISO 8601 time, not {args.now!r}.") from None
    if not 0 <= args.port < 1 << 16:
        raise ConfigurationError(f"--port takes 0 to 65535, not {args.port}.")
    if args.synthetic < 1:
        raise ConfigurationError("--synthetic is at least 1.")
    token = read_token(args.token_file)
    store = FhirStore(_base(args, now), clock=Clock(now))
    with serve(
        store,
        args.host,
        args.port,
        allow_remote=args.allow_remote,
        names=args.allow_host,
        token=token,
    ) as server:
        write(server.url)
        sys.stdout.flush()
        if not is_loopback(args.host):
            note(_EXPOSED_WITH_TOKEN if token else _EXPOSED)
        note("Serving until interrupted (Ctrl-C); writes are kept in memory only.")
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            note("")
    return 0


def _base(args: argparse.Namespace, now: datetime) -> Base:
    if args.bundles:
        from healthgym.worlds.fhir.bundles import load_bundles

        return load_bundles(args.bundles)
    if args.chart:
        from healthgym.worlds.fhir import ColumnBase

        return ColumnBase.load(args.chart)
    from healthgym.worlds.fhir.cohort.population import PUBLISHED_RECORDS, population

    note(f"Making {args.synthetic} patients with histories ...")
    return population(
        args.seed,
        now=now,
        data_bearing=args.synthetic,
        patients=7 * args.synthetic,
        records=PUBLISHED_RECORDS * args.synthetic // _FULL_SIZE,
    )
