"""``healthgym leaderboard``: results that are checked by playing their records again."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from healthgym.cli.common import Commands, checkout, note, write, write_json
from healthgym.cli.progress import Progress
from healthgym.core.writing import writable, write_whole
from healthgym.errors import ConfigurationError, DamagedDataError

if TYPE_CHECKING:
    from healthgym.policies.leaderboard import Entry
    from healthgym.testing.rechecking import Checked


def add_commands(commands: Commands) -> None:
    """Add the commands of this module."""
    parser = commands.add_parser(
        "leaderboard",
        help="enter a result with its record, check entries, show the board",
        description="An entry is made of a result and its record, which is played again: one whose "
        "record does not give the numbers is refused.",
    )
    verbs = parser.add_subparsers(title="what", metavar="WHAT", required=True)
    _add_add(verbs)
    check = verbs.add_parser("check", help="check entries again; the exit status is 2 if one fails")
    _add_folder(check)
    check.add_argument(
        "--records", metavar="DIR", type=Path, help="folder with records, found by their hash"
    )
    check.add_argument(
        "--again",
        action="store_true",
        help="play scripted policies of which there is no record again",
    )
    check.set_defaults(run=check_board)
    show = verbs.add_parser("show", help="show the board")
    _add_folder(show)
    show.add_argument("--id", help="of this environment only")
    show.add_argument("--json", metavar="FILE", help="write the entries; - for the terminal")
    show.set_defaults(run=show_board)


def _add_add(verbs: Commands) -> None:
    add = verbs.add_parser("add", help="make an entry of a result and its record")
    add.add_argument("result", metavar="RESULT", type=Path, help="what `eval --json` wrote")
    add.add_argument(
        "--record", metavar="FILE", type=Path, required=True, help="what `eval --record` wrote"
    )
    add.add_argument("--name", default="", help="name of a model in tables")
    add.add_argument("--model-version", default="", help="version or revision of the model")
    add.add_argument("--by", default="", help="who enters it")
    add.add_argument("--where", default="", help="address at which the record can be had")
    add.add_argument("--date", default="", help="when it was played (default: by the record)")
    add.add_argument("--out", metavar="DIR", type=Path, help="folder of the board")
    add.set_defaults(run=add_entry)


def _add_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder", metavar="DIR", type=Path, nargs="?",
        help="folder of the board (default: that of the checkout)",
    )  # fmt: skip


def _board(told: Path | None) -> Path:
    """Return the folder of the board.

    Raises:
        ConfigurationError: If none is told, and there is no checkout with one.
    """
    root = checkout()
    if told is None and root is None:
        raise ConfigurationError("There is no checkout here: name the folder of the board.")
    return told or Path(root or ".") / "benchmarks" / "leaderboard"


def add_entry(args: argparse.Namespace) -> int:
    """Play the record again, and write the entry."""
    from healthgym.testing.entering import Words, entered, read_result

    folder = _board(args.out)
    words = Words(args.name, args.model_version, args.by, args.where, args.date)
    result = read_result(args.result)
    progress = Progress(len(result.results), "episodes played again")
    try:
        entry = entered(result, args.record, words, progress)
    finally:
        progress.over()
    path = writable(folder / entry.file_name)
    if path.exists():
        raise ConfigurationError(f"This record is on the board already: {path.name}.")
    write_whole(path, entry.to_json())
    rate = entry.success
    write(
        f"{path.name}: {entry.record.episodes} episodes played again to what the result says, "
        f"success {rate.estimate:.1%} [{rate.low:.1%} – {rate.high:.1%}]"
    )
    return 0


def check_board(args: argparse.Namespace) -> int:
    """Check each entry of a folder, and say what was not replayed."""
    from healthgym.policies.leaderboard import entry_files, read_entry
    from healthgym.testing.rechecking import Checked, Standing
    from healthgym.testing.vouching import file_hash

    files = entry_files(_board(args.folder))
    records = sorted(args.records.glob("*.jsonl")) if args.records else []
    by_hash = {file_hash(path): path for path in records}
    counts = dict.fromkeys(Standing, 0)
    for path in files:
        try:
            checked = _checked(read_entry(path), by_hash, again=args.again)
        except DamagedDataError as error:
            checked = Checked(Standing.REFUSED, str(error))
        counts[checked.standing] += 1
        write(f"{path.name}: {checked.standing}: {checked.reason}")
    told = ", ".join(f"{count} {standing}" for standing, count in counts.items() if count)
    write(f"{len(files)} entries: {told or 'none'}")
    return 2 if counts[Standing.REFUSED] or not files else 0


def _checked(entry: Entry, records: Mapping[str, Path], *, again: bool) -> Checked:
    from healthgym.testing.rechecking import Checked, Standing, play_again, recheck

    record = records.get(entry.record.sha256)
    progress = Progress(entry.record.episodes, "episodes played again")
    try:
        if record is not None:
            return recheck(entry, record, progress)
        if again:
            return play_again(entry, progress)
    finally:
        progress.over()
    return Checked(Standing.NOT_REPLAYED, "there is no record of it here; its sums are right.")


def show_board(args: argparse.Namespace) -> int:
    """Show the tables, or write the entries as JSON."""
    from healthgym.policies.leaderboard import BOARD_SCHEMA, grouped, read_board, table
    from healthgym.policies.reports import plain_table

    if args.json not in (None, "-"):
        writable(args.json)
    entries = [e for e in read_board(_board(args.folder)) if args.id in (None, e.env_id)]
    if args.json is not None:
        told = [json.loads(entry.to_json()) for entry in entries]
        return write_json(args.json, {"schema": BOARD_SCHEMA, "entries": told})
    if not entries:
        note("healthgym: there are no such entries")
        return 2
    for heading, group in grouped(entries):
        write(f"{heading}\n\n{plain_table(*table(group))}\n")
    return 0
