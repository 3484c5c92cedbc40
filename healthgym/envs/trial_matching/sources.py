"""Real topics, trials and judgements: a folder of the TREC Clinical Trials track."""

from __future__ import annotations

import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

from healthgym.core.files import marks_of, read_plain, read_whole, read_within, require_file
from healthgym.core.seeding import Split, stable_hash, task_rng
from healthgym.core.task import Instance, TaskKey
from healthgym.envs.trial_matching.dice import Dice
from healthgym.envs.trial_matching.generator import INSTRUCTION
from healthgym.envs.trial_matching.record import TrialRecord, parse
from healthgym.envs.trial_matching.task import (
    ELIGIBLE,
    EXCLUDED,
    NOT_RELEVANT,
    MatchingInstance,
    MatchingReference,
    MatchingStart,
    MatchingTask,
    MatchingTaskGenerator,
)
from healthgym.errors import DamagedDataError, MissingDataError
from healthgym.worlds.corpus import Corpus

#: Topics of 2021 that HealthAgentBench uses; they are the test split of that year.
PUBLISHED = frozenset({6, 8, 19, 26, 27, 29, 35, 45, 75})
#: Most trials of grade 2 in a pool; the release keeps 3 to 9 and takes the others out.
MOST_ELIGIBLE = 9
#: Fewest trials of a pool. Fifty of a list count under the source's rule: a pool of few more is
#: passed by listing it all. The published pools have 300 to 450.
FEWEST_TRIALS = 150
#: Share of a list that judges must have found eligible. Judgements of people are not exact.
MIN_PRECISION = 0.5
#: Day of the registry snapshot that was judged.
_SNAPSHOT = datetime(2021, 4, 27, 9, tzinfo=UTC)
_ACCESS = (
    "It needs topics{year}.xml, qrels{year}.txt (or .txt.gz), and the trials as XML files in "
    "folders, in the zip files they are given out in, in trials_xml.tar.xz or in "
    "trials_xml.tar.gz. Topics and judgements of the TREC Clinical Trials track are at "
    "trec.nist.gov without registration, the trials at clinicaltrials.gov."
)
_GOLD = (
    "The published topics are graded by answers that people audited, a file of registry numbers "
    "for each: gold/task_{topic}.txt, as tests/gold.txt of task_{topic} in the release of "
    "HealthAgentBench. The train and validation splits need none"
)
#: What a damaged file raises when it is opened or unpacked.
#: Most bytes of one trial's record; the longest published ones have two million.
_MOST_OF_TRIAL = 16 << 20
_DAMAGES = (
    OSError,
    EOFError,
    zlib.error,
    lzma.LZMAError,
    tarfile.TarError,
    zipfile.BadZipFile,
    RuntimeError,
)
_GRADES = {NOT_RELEVANT, EXCLUDED, ELIGIBLE}


@dataclass(frozen=True)
class TrecData:
    """What a folder holds of one year.

    Attributes:
        topics: Topic number -> admission note.
        grades: Topic number -> registry number -> grade, for the trials that are there.
        trials: Registry number -> record, for the trials that are judged.
    """

    topics: Mapping[int, str]
    grades: Mapping[int, Mapping[str, int]]
    trials: Mapping[str, TrialRecord]


def read_folder(folder: str, year: int) -> TrecData:
    """Read a folder; all of it, or nothing.

    Raises:
        MissingDataError: If a file is not there.
        DamagedDataError: If one cannot be read as what it should be.
    """
    root = Path(folder)
    return _read_folder(folder, year, marks_of(sorted(root.rglob("*"))))


@lru_cache(maxsize=4)
def _read_folder(folder: str, year: int, marks: str) -> TrecData:
    root = Path(folder)
    topics = _read_topics(_one_of(root, year, f"topics{year}.xml"), year)
    names = (f"qrels{year}.txt", f"qrels{year}.txt.gz")
    judged = _read_qrels(_one_of(root, year, *names), year)
    wanted = {id_ for grades in judged.values() for id_ in grades}
    trials = dict(_read_trials(root, wanted, year))
    if not trials:
        raise MissingDataError(_message(root, year, "none of the judged trials is there"))
    grades = {
        topic: {id_: grade for id_, grade in sorted(judged.get(topic, {}).items()) if id_ in trials}
        for topic in sorted(topics)
    }
    return TrecData(topics, grades, trials)


def _message(path: Path, year: int, problem: str) -> str:
    return f"{path}: {problem}. TREC Clinical Trials {year}: {_ACCESS.format(year=year)}"


def _one_of(root: Path, year: int, *names: str) -> Path:
    for name in names:
        if (root / name).is_file():
            return root / name
    raise MissingDataError(_message(root / names[0], year, "there is no such file"))


def _read_bytes(path: Path, year: int) -> bytes:
    try:
        return read_whole(path)
    except _DAMAGES as error:
        raise DamagedDataError(_message(path, year, f"it cannot be read ({error})")) from None


def _read_topics(path: Path, year: int) -> dict[int, str]:
    data = _read_bytes(path, year)
    try:
        root = parse(data)
        topics = {
            int(node.attrib["number"]): " ".join("".join(node.itertext()).split())
            for node in root.findall("topic")
        }
    except (KeyError, ValueError) as error:
        raise DamagedDataError(_message(path, year, f"it is no topic file ({error})")) from None
    if not topics or not all(topics.values()):
        raise DamagedDataError(_message(path, year, "it holds no topics, or an empty one"))
    return topics


def _read_qrels(path: Path, year: int) -> dict[int, dict[str, int]]:
    judged: dict[int, dict[str, int]] = {}
    text = _read_bytes(path, year).decode("utf-8", "replace")
    for number, line in enumerate(text.splitlines(), 1):
        fields = line.split()
        if not fields:
            continue
        try:
            topic, _, id_, grade = fields
            if int(grade) not in _GRADES or not re.fullmatch(r"NCT\d{8}", id_):
                raise ValueError
            judged.setdefault(int(topic), {})[id_] = int(grade)
        except ValueError:
            problem = f"line {number} is not 'topic 0 NCT-number grade': {line[:60]!r}"
            raise DamagedDataError(_message(path, year, problem)) from None
    return judged


def _read_trials(root: Path, wanted: set[str], year: int) -> Iterator[tuple[str, TrialRecord]]:
    for name in ("trials_xml.tar.xz", "trials_xml.tar.gz"):
        if (root / name).is_file():
            yield from _read_archive(root / name, _tar_members, wanted, year)
            return
    for path in sorted(root.glob("*.zip")):
        yield from _read_archive(path, _zip_members, wanted, year)
    for path in sorted(root.rglob("NCT*.xml")):
        if path.stem in wanted:
            yield path.stem, _record(_read_bytes(path, year), path, year)


_Members = Callable[[Path, set[str]], Iterator[tuple[str, bytes]]]


def _read_archive(
    path: Path, members: _Members, wanted: set[str], year: int
) -> Iterator[tuple[str, TrialRecord]]:
    try:
        for name, data in members(path, wanted):
            yield Path(name).stem, _record(data, path / name, year)
    except _DAMAGES as error:
        raise DamagedDataError(_message(path, year, f"it cannot be read ({error})")) from None


def _tar_members(path: Path, wanted: set[str]) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(require_file(path)) as archive:
        for member in archive:
            file = archive.extractfile(member) if Path(member.name).stem in wanted else None
            if file is not None:
                yield member.name, read_within(file, _MOST_OF_TRIAL)


def _zip_members(path: Path, wanted: set[str]) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(require_file(path)) as archive:
        for name in archive.namelist():
            if name.endswith(".xml") and Path(name).stem in wanted:
                with archive.open(name) as file:
                    yield name, read_within(file, _MOST_OF_TRIAL)


def _record(data: bytes, path: Path, year: int) -> TrialRecord:
    try:
        record = TrialRecord.from_xml(data)
    except ValueError as error:
        raise DamagedDataError(_message(path, year, str(error))) from None
    if record.nct_id != path.stem:
        raise DamagedDataError(_message(path, year, f"it holds the record of {record.nct_id}"))
    return record


class TrecGenerator(MatchingTaskGenerator):
    """The topics of a TREC Clinical Trials folder as tasks, graded by the judgements.

    A topic's pool is what was judged for it and is in the folder. The published topics keep the
    trials of grade 2 that people audited, any other at most nine of them, and the others of grade
    2 leave the pool, as the benchmark does: there are no hidden positives. Topics are divided
    among the splits: the nine published ones of 2021 are the test split, a fifth of the others is
    for validation. Trials are shared between topics, so only the notes of the splits are disjoint.

    Args:
        folder: The folder.
        year: 2021 or 2022.

    Raises:
        MissingDataError: If a file is not there, or a topic has too few trials.
        DamagedDataError: If one cannot be read; nothing is loaded.
    """

    lasting = False

    def __init__(self, folder: Path | str, year: int = 2021) -> None:
        self.folder, self.year = str(folder), year
        self.name = f"trial-matching-trec{year}"
        data = read_folder(self.folder, year)
        _require_pools(Path(folder), data, year)
        self._topics: dict[Split, tuple[int, ...]] = {
            split: tuple(
                topic
                for topic, grades in data.grades.items()
                if _split(topic, year) is split and ELIGIBLE in grades.values()
            )
            for split in Split
        }

    def __reduce__(self) -> tuple[type[TrecGenerator], tuple[str, int]]:
        """Rebuild from the folder: what was read is not sent along."""
        return TrecGenerator, (self.folder, self.year)

    def size(self, split: Split) -> int:
        """Return the number of topics of a split that have an eligible trial in the folder."""
        return len(self._topics[split])

    def draw(self, split: Split, index: int) -> MatchingInstance:
        """Return a topic as a task."""
        topic = self._topics[split][index]
        data = read_folder(self.folder, self.year)
        dice = Dice(task_rng(self.name, Split.TEST, topic))
        judged = data.grades[topic]
        eligible = [id_ for id_, grade in judged.items() if grade == ELIGIBLE]
        if self.year == 2021 and topic in PUBLISHED:
            kept = _audited(Path(self.folder), topic, judged)
        else:
            kept = set(dice.sample(eligible, MOST_ELIGIBLE))
        pool = [id_ for id_, grade in judged.items() if grade != ELIGIBLE or id_ in kept]
        grades = {id_: judged[id_] for id_ in dice.shuffled(pool)}
        note = data.topics[topic]
        task = MatchingTask(
            TaskKey(self.name, split, index),
            f"topic-{topic}",
            INSTRUCTION.format(size=len(grades), rules=""),
            {"pool_size": len(grades)},
            pool_size=len(grades),
        )
        corpus = Corpus(tuple(grades), data.trials.__getitem__)
        start = MatchingStart(note, corpus, _SNAPSHOT, note[:300])
        return Instance(task, MatchingReference(grades, MIN_PRECISION), start)


def _require_pools(folder: Path, data: TrecData, year: int) -> None:
    """Refuse a folder that has too few of the trials that were judged for a topic.

    Raises:
        MissingDataError: If a topic has a pool below the floor; it names some of them.
    """
    short = {topic: len(grades) for topic, grades in data.grades.items() if grades}
    short = {topic: count for topic, count in short.items() if count < FEWEST_TRIALS}
    if short:
        some = ", ".join(f"topic {topic} {count}" for topic, count in list(short.items())[:4])
        problem = (
            f"{len(short)} topics have fewer than {FEWEST_TRIALS} of their judged trials there "
            f"({some}); whoever lists all of so few passes"
        )
        raise MissingDataError(_message(folder, year, problem))


#: Bytes of a file of answers: a trial a line.
_MOST_GOLD = 1 << 20


def _audited(folder: Path, topic: int, judged: Mapping[str, int]) -> set[str]:
    """Return the audited answers of a published topic.

    Raises:
        MissingDataError: If there is no file of them, or a trial that it names is not there.
        DamagedDataError: If it names none, or one that was not judged eligible.
    """
    path = folder / "gold" / f"task_{topic}.txt"
    if not path.is_file():
        told = _message(path, 2021, "there is no such file")
        raise MissingDataError(f"{told} {_GOLD.format(topic=topic)}.")
    try:
        text = read_plain(path, _MOST_GOLD).decode("utf-8", "replace")
    except OSError as error:
        raise DamagedDataError(_message(path, 2021, f"it cannot be read: {error}")) from error
    ids = set(re.findall(r"^NCT\d{8}$", text, re.MULTILINE))
    if not ids or any(judged.get(id_, ELIGIBLE) != ELIGIBLE for id_ in ids):
        problem = "it is no list of trials that were judged eligible"
        raise DamagedDataError(_message(path, 2021, problem))
    if not ids <= judged.keys():
        absent = ", ".join(sorted(ids - judged.keys())[:4])
        raise MissingDataError(_message(path, 2021, f"the trials {absent} are not in the folder"))
    return ids


def _split(topic: int, year: int) -> Split:
    if year == 2021 and topic in PUBLISHED:
        return Split.TEST
    tenth = stable_hash(f"trec-ct/{year}/{topic}") % 10
    if year != 2021 and tenth >= 8:
        return Split.TEST
    return Split.VALIDATION if tenth < 2 else Split.TRAIN
