"""Seed to task: what the draft says, which of it is wrong, what is true instead, and a patient.

The draft is drawn first, and which of its sentences are wrong regardless of what they say; the
swap principles then lead from a wrong sentence to the truth. So nothing in the wording of a draft
tells which sentence is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

import numpy as np

from healthgym.core.seeding import Split, task_rng
from healthgym.core.task import Instance, Task, TaskKey
from healthgym.envs.xray_correction.claims import ZONES, Claim, Statement, entities, load
from healthgym.envs.xray_correction.patients import choose_entities, draw_claim, draw_scenes
from healthgym.envs.xray_correction.swaps import swap
from healthgym.envs.xray_correction.task import (
    CorrectionInstance,
    CorrectionReference,
    CorrectionStart,
    CorrectionTaskGenerator,
    ReportConfig,
)
from healthgym.envs.xray_correction.wording import Wording
from healthgym.worlds.radiography.archive import RenderedRadiographs, Study
from healthgym.worlds.radiography.scene import draw_build

_MOST_DRAWS = 60
_TOGETHER = 0.4
#: How often a report on a patient with priors may say that there are any.
_ABOUT_PRIORS = 0.15


@dataclass(frozen=True, slots=True)
class Case:
    """One of the source's ten cases, in theme and composition.

    Attributes:
        swaps: Number of wrong sentences.
        studies: Number of studies.
        theme: Entities the report speaks of; a state may be given after a colon.
        sentences: Fewest sentences; one more than are wrong if 0.
    """

    swaps: int
    studies: int
    theme: tuple[str, ...]
    sentences: int = 0


def canonical_cases() -> tuple[Case, ...]:
    """Return the composition of HealthAgentBench's ten cases."""
    rows = load("cases.json")["cases"]
    return tuple(Case(row["swaps"], row["studies"], tuple(row["theme"])) for row in rows)


class CorrectionGenerator(CorrectionTaskGenerator):
    """Draws correction tasks.

    Args:
        config: Size and difficulty.
        difficulty: What the task's metadata calls it.
        canonical: Whether tasks are composed like the source's; the test split then has ten.
        name: Name of the family in task keys.
    """

    def __init__(
        self, config: ReportConfig, *, difficulty: str, canonical: bool, name: str
    ) -> None:
        self._config, self._difficulty, self.name = config, difficulty, name
        self._cases = canonical_cases() if canonical else ()
        self.tests = len(self._cases) if canonical else None

    def draw(self, split: Split, index: int) -> CorrectionInstance:
        """Return a task."""
        rng = task_rng(self.name, split, index)
        case = self._case(split, index, rng)
        for _ in range(_MOST_DRAWS):
            drawn = _Draw(rng, self._config, case)
            if drawn.ready:
                return drawn.instance(TaskKey(self.name, split, index), self._difficulty)
        raise AssertionError("No report with enough statements to make wrong.")

    def _case(self, split: Split, index: int, rng: np.random.Generator) -> Case | None:
        """Return what a task is composed like.

        In the splits without an end theme, studies and the number of wrong sentences are each drawn
        from the source's apart: with ten ways in which they go together, what a report speaks of
        would tell how much of it is wrong, and so would its length.
        """
        if not self._cases or self.is_fixed(split):
            return self._cases[index] if self._cases else None
        swaps, studies, theme = (
            self._cases[int(n)] for n in rng.integers(len(self._cases), size=3)
        )
        longest = 1 + max(case.swaps for case in self._cases)
        return Case(swaps.swaps, studies.studies, theme.theme, longest)


class _Draw:
    """One draw of patient, truth and draft."""

    def __init__(self, rng: np.random.Generator, config: ReportConfig, case: Case | None) -> None:
        self._rng, self._config = rng, config
        low, high = config.studies
        self._studies = case.studies if case else int(rng.integers(low, high + 1))
        #: How often a task of this kind has one study only.
        self._single = _single_share(config, case)
        low, high = config.errors
        self._errors = case.swaps if case else int(rng.integers(low, high + 1))
        said = self._draw_claims(case)
        # Fluid at the base would hide what is in the lower zone.
        self._zones = ZONES[:2] if any(c.entity == "effusion" for c in said) else ZONES
        groups = self._group(said)
        self.ready = len(groups) >= self._errors
        order = rng.permutation(len(groups))[: self._errors]
        self._wrong = sorted(int(place) for place in order)
        self._draft, self._true, self._used = self._correct(groups)
        self._truth = [claim for group in self._true for claim in group]

    def _draw_claims(self, case: Case | None) -> list[Claim]:
        rng, config = self._rng, self._config
        low, high = config.statements
        count = int(rng.integers(low, high + 1))
        allowed = list(config.subjects or entities())
        wanted: list[str] = []
        states = dict(entry.partition(":")[::2] for entry in case.theme) if case else {}
        if case:
            count = max(count, case.sentences or case.swaps + 1)
            wanted = list(states)
        alone = self._studies == 1
        change = 0.0 if alone else config.change
        # Whether priors exist is said only where nothing is compared with one, and is as often
        # said with priors as without, where a task may have none.
        if rng.random() < self._about_priors(alone):
            change = 0.0
        elif "comparison" in allowed:
            allowed.remove("comparison")
        if "lower" in states.values():
            allowed.remove("effusion")
        names = choose_entities(rng, count, allowed, wanted)
        zones = ZONES[:2] if "effusion" in names else ZONES
        claims = [draw_claim(rng, name, zones=zones, change=change) for name in names]
        return [_themed(claim, states.get(claim.entity, ""), self._studies) for claim in claims]

    def _about_priors(self, alone: bool) -> float:
        """Return how often a report may say whether there are priors."""
        single = self._single
        if not 0 < single < 1:
            return 0.0
        return min(_ABOUT_PRIORS * (1 - single) / single, 1.0) if alone else _ABOUT_PRIORS

    def _group(self, said: Sequence[Claim]) -> list[list[Claim]]:
        """Return what each sentence says: one claim, or effusion and pneumothorax together."""
        rng = self._rng
        groups = [[claim] for claim in said]
        names = [claim.entity for claim in said]
        together = not self._config.plain and rng.random() < _TOGETHER
        if together and {"effusion", "pneumothorax"} <= set(names):
            first, second = names.index("effusion"), names.index("pneumothorax")
            groups[first] = [said[first], said[second]]
            del groups[second]
        return [groups[int(place)] for place in rng.permutation(len(groups))]

    def _correct(
        self, groups: Sequence[list[Claim]]
    ) -> tuple[list[list[Claim]], list[list[Claim]], list[str]]:
        """Return what the draft says, what is true of it, and the principles in between."""
        draft, true, used = [], [], []
        for number, group in enumerate(groups):
            wrong = number in self._wrong
            said, right, principle = group, group, ""
            if group[0].entity == "comparison":
                priors = self._studies > 1
                said, right = ([Claim("comparison", is_so)] for is_so in (priors ^ wrong, priors))
                principle = "P4"
            elif wrong:
                right, principle = _put_right(group, self._rng, self._zones)
            draft.append(said)
            true.append(right)
            used += [principle] * wrong
        return draft, true, used

    def instance(self, key: TaskKey, difficulty: str) -> CorrectionInstance:
        """Return the task."""
        rng, config = self._rng, self._config
        wording = Wording(int(rng.integers(2**31)), plain=config.plain)
        sentences = partial(map, wording.sentence)
        draft = tuple(sentences(self._draft, range(len(self._draft))))
        texts = sentences(self._true, range(len(self._true)))
        truth = tuple(
            Statement(text, tuple(claims)) for text, claims in zip(texts, self._true, strict=True)
        )
        radiographs, header, now = self._patient()
        task = Task(
            key,
            "serial" if self._studies > 1 else "single",
            f"{instruction(self._studies, len(draft))} {load('cases.json')['grades']}",
            {"difficulty": difficulty, "studies": self._studies, "sentences": len(draft)},
        )
        reference = CorrectionReference(truth, tuple(self._wrong), tuple(self._used))
        start = CorrectionStart(radiographs, header, draft, now, drawn=True)
        return Instance(task, reference, start)

    def _patient(self) -> tuple[RenderedRadiographs, str, datetime]:
        rng, table = self._rng, load("cases.json")
        build = draw_build(rng)
        supine = [bool(rng.integers(2)) for _ in range(self._studies)]
        extras = [self._extra() for _ in range(self._studies - 1)]
        scenes = draw_scenes(rng, build, self._truth, extras, supine)
        taken = datetime(2120, 1, 1, tzinfo=UTC) + timedelta(minutes=int(rng.integers(40_000_000)))
        first = int(rng.integers(50_000_000, 59_900_000))
        studies = []
        for number in range(self._studies):
            views: tuple[str, ...] = (
                ("AP",) if supine[number] else ("PA", "LATERAL")[: 1 + int(rng.integers(2))]
            )
            reason = table["indications"][int(rng.integers(len(table["indications"])))]
            header = _header(views, reason)
            report = ""
            if number < self._studies - 1:
                wording = Wording(int(rng.integers(2**31)), plain=self._config.plain)
                lines = [wording.sentence([c], n) for n, c in enumerate(extras[number])]
                report = f"{header}\n\nFINDINGS:  {' '.join(lines)}"
            name = f"s{first + 1000 * number + int(rng.integers(1000))}"
            studies.append(Study(name, taken.replace(tzinfo=None), views, report))
            taken += timedelta(minutes=int(rng.integers(600, 60_000)))
        pictures = RenderedRadiographs(studies, scenes, self._config.size)
        return pictures, header, taken

    def _extra(self) -> list[Claim]:
        """Return what an earlier report says: nothing that the draft speaks of.

        Devices that are gone since, and findings that were not there; so a prior report never
        tells what the last study shows, only a prior picture does.
        """
        rng = self._rng
        names = {claim.entity for claim in self._truth}
        rivals = {"central_line", "picc"} if names & {"central_line", "picc"} else set()
        table = entities()
        open_ = [
            n for n, e in table.items() if n not in names | rivals and (e.device or e.negative)
        ]
        chosen = [open_[int(k)] for k in rng.permutation(len(open_))[:5]]
        if {"central_line", "picc"} <= set(chosen):
            chosen.remove("picc")
        claims = []
        for name in chosen:
            claim = draw_claim(rng, name)
            claims.append(Claim(name, present=False) if table[name].negative else claim)
        return claims


def _single_share(config: ReportConfig, case: Case | None) -> float:
    if case:
        studies = [other.studies for other in canonical_cases()]
    else:
        studies = list(range(config.studies[0], config.studies[1] + 1))
    return studies.count(1) / len(studies)


def _themed(claim: Claim, state: str, studies: int) -> Claim:
    """Return a claim with the state that a case's theme asks for."""
    if not state:
        return claim
    entity = entities()[claim.entity]
    if state == "normal":
        return Claim(claim.entity, present=False)
    severity = claim.severity or ("mild" if entity.severities else "")
    place = state if state in (*ZONES, *entity.places) else claim.place
    change = state if state == "unchanged" and studies > 1 else claim.change
    side = claim.side or ("right" if entity.sides else "")
    return Claim(claim.entity, True, side, place, severity, claim.count, change)


def _put_right(
    group: Sequence[Claim], rng: np.random.Generator, zones: tuple[str, ...]
) -> tuple[list[Claim], str]:
    """Return what is true where a sentence is wrong, and the principles that lead there."""
    place = int(rng.integers(len(group)))
    swapped = swap(group[place], rng, zones)
    assert swapped is not None
    return [*group[:place], swapped[0], *group[place + 1 :]], swapped[1]


def _header(views: Sequence[str], reason: str) -> str:
    kind = "PA and lateral" if len(views) > 1 else f"single {views[0]}"
    return (
        f"EXAMINATION:  CHEST ({' AND '.join(views)})\n\nINDICATION:  {reason}\n\n"
        f"TECHNIQUE:  Chest radiograph, {kind}.\n\nCOMPARISON:  ___."
    )


def instruction(studies: int, sentences: int) -> str:
    """Return the text the agent reads first."""
    return str(load("cases.json")["instruction"]).format(studies=studies, sentences=sentences)
