"""The record family, declared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np

from healthgym.core import arguments
from healthgym.core.clock import Clock
from healthgym.core.family import (
    AGENT,
    Baseline,
    EpisodeConfig,
    Family,
    HandIn,
    Role,
    Script,
    single,
)
from healthgym.core.levels import SYNTHETIC, Level, choose_levels
from healthgym.core.seeding import Split
from healthgym.core.verbs import Verb
from healthgym.envs.fhir_record import oracle, practices
from healthgym.envs.fhir_record.chance import chance_by_kind
from healthgym.envs.fhir_record.draft import PRESETS, ChartConfig
from healthgym.envs.fhir_record.generator import (
    BENCHMARK_NOW,
    Asking,
    ChartSource,
    FhirRecordGenerator,
    Mix,
    SyntheticCharts,
)
from healthgym.envs.fhir_record.kinds import FOLDER_KINDS, KINDS
from healthgym.envs.fhir_record.mixes import choose_mix, published_floors
from healthgym.envs.fhir_record.paper.base import BENCHMARK_DEFECTS, HONEST_DEFECTS
from healthgym.envs.fhir_record.proofs import PROOFS
from healthgym.envs.fhir_record.raw import EchoToolset, RawToolset
from healthgym.envs.fhir_record.raw_text import in_replies, prompt, read_reply
from healthgym.envs.fhir_record.retold import PseudonymousCharts, Retold, StyledCharts
from healthgym.envs.fhir_record.sources import BundleSource, OfficialSource
from healthgym.envs.fhir_record.task import (
    FhirInstance,
    FhirReference,
    FhirTask,
    FhirTaskGenerator,
    RecordStart,
)
from healthgym.envs.fhir_record.toolset import FolderToolset, RecordToolset
from healthgym.envs.fhir_record.verifier import FhirRecordVerifier
from healthgym.envs.fhir_record.wording import Style
from healthgym.errors import ConfigurationError
from healthgym.worlds.fhir.world import FhirWorld

#: Two of the twenty types state all there is to know, so that whoever orders solves them.
_CEILINGS = {"prior": 0.25, "eager": 0.25}
#: The mixes of the published benchmarks let constant answers pass more often than ours.
_PUBLISHED_CEILINGS = {"prior": 0.45, "eager": 0.45, "finish_minus_one": 0.2}


#: Agents choose how many resources search_fhir shows on a page.
_VERBS = frozenset({Verb.READ_MORE})

#: Where charts hold what a published grader misreads, by whether no benchmark is played: a
#: benchmark's test split is as it was published.
_TRAPS = {True: frozenset(Split), False: frozenset({Split.TRAIN, Split.VALIDATION})}

#: Where questions are worded by us and state what they draw, in the same way; short ones do not.
_OWN = _TRAPS

#: The rules of the published runs: eight replies, FINISH among them, at one and the same time.
#: Nothing is cut upstream: a whole chart asked for at once is some 5,000 rows of 1.3 kB each.
RAW_RULES = EpisodeConfig(
    max_turns=8,
    step_time=timedelta(0),
    show_clock=False,
    max_observation=8_000_000,
    plain=True,
)

_RETOLD: Mapping[Retold, Callable[[BundleSource], ChartSource]] = {
    Retold.STYLED: StyledCharts,
    Retold.PSEUDONYMOUS: PseudonymousCharts,
}

_Policy = Baseline[FhirTask, FhirReference, RecordStart]


def _opened(source: str | Path | ChartSource, fold: int) -> ChartSource:
    """Return a folder's charts, or the charts given."""
    if isinstance(source, str | Path):
        return BundleSource(source, fold)
    if fold:
        raise ConfigurationError("fold goes with a folder of charts as source.")
    return source


class Protocol(StrEnum):
    """How an agent speaks to the record system."""

    TOOLS = "tools"  #: calls of chart tools
    RAW = "raw"  #: GET, POST and FINISH, in the text of the published harness
    PUBLISHED = "published"  #: the same, as in the published runs: what is posted goes nowhere

    @property
    def textual(self) -> bool:
        """Whether agents reply in text and know of no tools."""
        return self is not Protocol.TOOLS


class FhirRecordFamily(Family[FhirTask, FhirReference, RecordStart, FhirWorld]):
    """Questions and orders over a FHIR record system.

    Args:
        task_types: Task types, with weights if a mapping; all if None.
        difficulty: A preset, a configuration, or weights of presets.
        benchmark: ``"v1"``, ``"v2"``, ``"v3"`` or None: whose mix, wording, frozen clock and
            defects of the graders apply.
        source: ``"synthetic"``, a folder of bundles, a published task file, or a chart source.
        charts: Where the patients of a published task file are.
        protocol: ``"tools"``; ``"raw"``: the published harness's text protocol; or
            ``"published"``: a benchmark's own runs, in which what is posted is acknowledged only.
        store_writes: Whether what is posted in the raw protocol is stored.
        retold: For a folder: what stands in for its charts, ``"styled"`` or ``"pseudonymous"``.
        fold: For a folder: which fifth of its patients is held out for the test.

    Raises:
        ConfigurationError: If the arguments do not fit together.
        DataError: If a file or folder is missing or damaged.
    """

    name: ClassVar[str] = "fhir-record"
    roles: Mapping[str, Role] = single(RecordToolset, verbs=_VERBS)
    verifier = FhirRecordVerifier(HONEST_DEFECTS)
    rules = EpisodeConfig(max_turns=12)
    proofs = PROOFS
    # Nothing is paid before: a step's reward would tell whether an order is called for, and right.
    hand_in = HandIn("finish")
    ceilings: Mapping[str, float] = _CEILINGS

    def __init__(
        self,
        *,
        task_types: Sequence[str] | Mapping[str, float] | None = None,
        difficulty: str | ChartConfig | Mapping[str, float] = "medium",
        benchmark: str | None = None,
        source: str | Path | ChartSource = SYNTHETIC,
        charts: str | Path | None = None,
        protocol: str = Protocol.TOOLS,
        store_writes: bool = True,
        retold: str | None = None,
        fold: int = 0,
    ) -> None:
        self.protocol = arguments.member(Protocol, protocol, "protocol")
        if self.protocol is not Protocol.RAW and not store_writes:
            raise ConfigurationError("store_writes belongs to the raw protocol.")
        self.generator: FhirTaskGenerator
        self._of_data: Callable[[], str] = str
        if isinstance(source, str | Path) and Path(source).suffix == ".json":
            if task_types is not None or isinstance(difficulty, Mapping):
                raise ConfigurationError("A published task file has its own task types.")
            tasks = OfficialSource(
                source, benchmark=benchmark, charts=charts, difficulty=difficulty
            )
            self.generator, benchmark = tasks, tasks.benchmark
        elif charts is not None:
            raise ConfigurationError("charts goes with a published task file as source.")
        else:
            mix = choose_mix(benchmark, task_types, KINDS if source == SYNTHETIC else FOLDER_KINDS)
            levels = choose_levels(difficulty, PRESETS)
            if source == SYNTHETIC:
                self.generator = self._synthetic(mix, levels, benchmark)
            else:
                self.generator = self._real(
                    _opened(source, fold), retold, mix, levels, named=task_types is not None
                )
        real = isinstance(self.generator, FhirRecordGenerator) and source != SYNTHETIC
        if not real and (retold is not None or fold):
            raise ConfigurationError("retold and fold go with a folder of charts as source.")
        if real:
            self.roles = single(FolderToolset, verbs=_VERBS)
        defects = BENCHMARK_DEFECTS[benchmark] if benchmark else HONEST_DEFECTS
        self.verifier = FhirRecordVerifier(defects, own=real)
        self.chance = chance_by_kind()
        if benchmark:
            self.rules = replace(self.rules, step_time=timedelta(0), show_clock=False)
            self.ceilings = _PUBLISHED_CEILINGS
            self.proofs = replace(PROOFS, constants=published_floors(benchmark))
        if self.protocol is Protocol.PUBLISHED and not benchmark:
            raise ConfigurationError("The published protocol plays a benchmark: v1, v2 or v3.")
        if self.protocol.textual:
            stored = store_writes and self.protocol is Protocol.RAW
            toolset = RawToolset if stored else EchoToolset
            self.roles = {AGENT: Role([toolset], grammar=read_reply)}
            self.rules = RAW_RULES

    def _synthetic(
        self, mix: Mix, levels: Sequence[Level[ChartConfig]], benchmark: str | None
    ) -> FhirRecordGenerator:
        """Return a generator on charts made for each question."""

        def asking(config: ChartConfig) -> Asking:
            own = benchmark is None
            style = Style.TERSE if config.terse else Style.FULL
            practice = None if own or config.terse else style
            if benchmark:
                style = Style.AUDITED if benchmark == "v3" else Style.BENCHMARK
            charts = SyntheticCharts(
                config,
                traps=_TRAPS[own],
                now=None if own else BENCHMARK_NOW,
                drawn=frozenset() if config.terse and not config.varied else _OWN[own],
            )
            return Asking(charts, style, practice)

        name = f"medagentbench-{benchmark}" if benchmark else self.name
        asked = [Level(level.label, asking(level.config), level.weight) for level in levels]
        return FhirRecordGenerator(KINDS, mix, asked, name=name)

    def _real(
        self,
        source: ChartSource,
        retold: str | None,
        mix: Mix,
        levels: Sequence[Level[ChartConfig]],
        *,
        named: bool,
    ) -> FhirRecordGenerator:
        """Return a generator on given charts; each type that was named must be possible there."""
        if isinstance(source, BundleSource):
            if nobody := source.nobody():
                raise ConfigurationError(nobody)
            for kind in mix.kinds if named else ():
                source.require(FOLDER_KINDS[kind])
            asked = {kind: FOLDER_KINDS[kind] for kind in (mix.kinds if named else FOLDER_KINDS)}
            self._of_data = partial(source.told, asked)
        name = f"{self.name}-real"
        if retold is not None:
            if not isinstance(source, BundleSource):
                raise ConfigurationError("retold goes with a folder of charts as source.")
            told = arguments.member(Retold, retold, "retold")
            source = _RETOLD[told](source)
            name = f"{name}-{told}"
        style = Style.TERSE if all(level.config.terse for level in levels) else Style.FULL
        level = Level("real", Asking(source, style))
        return FhirRecordGenerator(FOLDER_KINDS, mix, [level], name=name)

    def of_data(self) -> str:
        """Return which types a folder can be asked, in which splits, and what others lack.

        Where types were named it tells of those: finding out takes a while in a large folder.
        """
        return self._of_data()

    def open(self, instance: FhirInstance) -> FhirWorld:
        """Return a fresh overlay over the instance's chart."""
        return FhirWorld(instance.start.base, Clock(instance.start.now))

    def instruction(self, role: str, instance: FhirInstance) -> str:
        """Return the question with the form of its answer.

        In the raw protocol it is as published: with the rules and functions before it, and the form
        of the answer left out where they leave it out.
        """
        question, form = instance.task.instruction, instance.task.answer_form
        if self.protocol.textual:
            return prompt(question)
        return f"{question} {form}" if form else question

    def oracle(self, instance: FhirInstance, rng: np.random.Generator) -> Script:
        """Look up, order, stop and answer as the rule says."""
        return self._spoken(oracle.solve)(instance, rng)

    def baselines(self) -> Mapping[str, Baseline[FhirTask, FhirReference, RecordStart]]:
        """Return the scripted policies; the constant answers are known to pass upstream."""
        return {
            "flood": self._spoken(oracle.flood),
            "prior": self._spoken(oracle.prior),
            "eager": self._spoken(oracle.eager),
            "finish_empty": self._spoken(oracle.finish_empty),
            "finish_minus_one": self._spoken(oracle.finish_minus_one),
        }

    def practices(self) -> Mapping[str, Baseline[FhirTask, FhirReference, RecordStart]]:
        """Return the practices beside the oracle's: by habit, and in smaller steps."""
        return {
            "house": self._spoken(practices.house),
            "cautious": self._spoken(practices.cautious),
            "stepwise": self._spoken(practices.stepwise),
        }

    def _spoken(self, policy: _Policy) -> _Policy:
        """Return a policy in the words of the protocol."""
        return in_replies(policy) if self.protocol.textual else policy
