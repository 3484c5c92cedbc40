"""Gymnasium environments over a FHIR record system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Unpack

from healthgym.core.action import MAX_ACTION_LENGTH
from healthgym.core.levels import SYNTHETIC
from healthgym.envs.declared import Common, DeclaredEnv
from healthgym.envs.fhir_record.draft import ChartConfig
from healthgym.envs.fhir_record.family import FhirRecordFamily, Protocol
from healthgym.envs.fhir_record.generator import ChartSource
from healthgym.spaces import UnicodeText


class FhirRecordEnv(DeclaredEnv, family=FhirRecordFamily):
    """Answer questions about patients in a FHIR record system, and write the orders they call for.

    ## Description

    The agent is the assistant of a clinician on a ward. It is asked about one patient: find a
    record number, read the newest magnesium, average a day's glucose, replace a low potassium
    and book the level for next morning, leave exactly one anticoagulant running, renew an
    imaging study that is due. A careful professional looks up the right patient and the right
    rows, keeps to the window that was asked about, applies the protocol in the question,
    writes exactly the orders it calls for, and reports the value they rest on. It is hard
    because charts are long and unsorted, rows of other times, units and people lie close by,
    and a protocol that calls for nothing must be left alone. The twenty task types are those
    of MedAgentBench v1 (Jiang et al., 2025) and v2; the charts are ours, in exactly the
    resource shapes of the published record system, or your own R4 bundles.

    ## Observation Space

    ``UnicodeText``: first the question, which states the time and the form of the answer, then
    the result of each call. Results begin with the simulated time, are short tables rather
    than JSON, and say how to read on where there is more. In the raw protocol the question stands
    at the end of a prompt with rules and functions, and results are what the server answers, in
    full and without the time.

    ## Action Space

    {tools}

    With ``protocol="raw"`` agents written for the published harness play unchanged. An action is
    one reply: ``GET url?parameters``, or ``POST url`` with JSON on the following lines, or
    ``FINISH([...])``, read as the harness reads it; there are no tools to be told of. The clock
    stands still, and an episode takes eight replies unless ``max_turns`` says otherwise.
    ``protocol="published"`` plays a benchmark as its harness does, to reproduce a published number:
    the same replies, what is posted is acknowledged and goes nowhere, and the ``paper`` profile
    counts.

    ## Starting State

    The seed draws a task type (uniformly, or by the weights given), then a branch of its rule:
    branches that call for a change of the record and branches that do not are equally likely
    where both occur, and branches with a constant answer are rare. From ``"medium"`` on it also
    draws what the question states: the codes of the record system and of the orders, thresholds,
    windows, doses and lists of drugs, and one of ten wordings, two of which occur in the test
    split only (in half of its tasks). Then a chart is drawn on which the branch applies,
    boundary values included: the patient, other patients (some of the same name), history by the
    density of the difficulty, and rows that punish shortcuts: newer rows in the future, older
    rows outside the window, other units, other patients, drugs that are not on the list. From
    ``"medium"`` on, results, procedures and active orders go on for several pages, in no order.
    The world's clock starts at the time printed in the question; each call takes a minute, and a
    refused call takes none. No patient is in two splits.

    ## Rewards

    ``sparse``: 1 if the episode ends with ``finish`` and every check of the profile passes, else 0.
    ``shaped``: the verdict's progress, less what who opens no chart makes of it, so that it may be
    negative; 1 for success. It is paid when the work is handed in: paid for each order, it would
    tell whether one is called for, and whether its dose is right. Doing nothing scores 0 under
    both.

    {checks}

    Words beside an order (note, reason, instruction) may state anything, in English, and ask for
    nothing but the order: what they add, allow, prefer, leave to somebody or make it hang on
    ("ok to skip", "an ultrasound will do", "only if") fails its details under ``strict``. What is
    told, watched or explained is free ("call me if the QTc exceeds 500"), but for the name or
    record number of another patient, and for another value of what was measured. A note in
    another language is not read: the tool refuses it, and in the raw protocol it fails the order.

    The two checks of an order are there for each that the rule calls for, *orders_stopped* where
    something must not go on, and under ``paper`` those of the task type's published grader; its
    defects are listed in :class:`healthgym.envs.fhir_record.paper.base.Defect`.

    Beside the oracle two practices can demonstrate, ``house`` and ``cautious``, who look as
    carefully and order by habit: by the published windows, limits and doses whatever the question
    states (``cautious`` half of each dose), with blood pressures rounded to tens.

    ## Episode End

    {episode end} In the raw protocol a reply that is none of the three forms ends it, too:
    ``terminated``, with nothing handed in.

    ## Information

    {information}

    ## Arguments

    {common arguments}
    - `task_types` (list or dict, None): Task types to draw, with weights if a dict; all if None.
    - `difficulty` (str, dict or ChartConfig, "medium"): ``"drill"``, ``"easy"``, ``"medium"``,
        ``"hard"``, or weights of several, among which a curriculum chooses. A drill's charts are
        the shortest; its questions are put like the easy ones, in one short form, and state codes,
        limits and doses of their own like the others.
    - `benchmark` (str, None): ``"v1"``, ``"v2"`` or ``"v3"``: the published wording conventions,
        frozen clock and grader defects. The test split has the published mix, wording, codes and
        numbers, and nothing that the published graders misread. Train and validation are balanced
        and (but for ``"easy"``) asked with codes and numbers that are drawn, in words of ours (the
        short ones in a drill), and charts hold such rows, for which the defects concerned are off.
        Published words leave out the form of most answers; with tools a sentence behind them says
        it, behind those of a published file, too.
    - `source` (str, "synthetic"): ``"synthetic"``; or a folder of FHIR R4 bundles, on which the
        questions it has data for are asked; or a published task file (``.json``), whose questions
        are asked verbatim. A published file has a test split only. Of a folder two types of ours
        can be asked by name: ``"own-t1"``, end the active orders of a drug that is no longer
        taken, and ``"own-t2"``, see to an influenza immunization. Both profiles judge these
        alike, and agents have a tool ``search_immunizations`` there.
    - `charts` (str, None): For a published task file: a folder of FHIR files or the address of a
        FHIR server that holds its patients; made-up charts that fit if None.
    - `protocol` (str, "tools"): ``"tools"``; ``"raw"``: the published text protocol; or
        ``"published"``: a benchmark's own runs, judged by ``paper`` unless `profile` says so.
    - `store_writes` (bool, True): Whether what is posted in the raw protocol is really stored.
        Then a resource that the record system refuses is answered with the refusal, which upstream
        never does. If not, only the ``paper`` profile can find an order.
    - `retold` (str, None): For a folder as source, what stands in for its charts: ``"styled"``,
        synthetic charts in the folder's ids, codes, times, decimals and density, learnt from its
        training patients; or ``"pseudonymous"``, its own charts, for each question with other
        names, ids, dates and values. To train on where a folder holds few people.
    - `fold` (int, 0): For a folder as source: which fifth of its patients is held out for the test
        split, 0 to 4.

    ## Registered Configurations

    {configurations}

    ## Example

    >>> import gymnasium as gym
    >>> import healthgym
    >>> env = gym.make("HealthAgent/FhirRecord-v1", task_types=["v1-t7"], difficulty="easy")
    >>> observation, info = env.reset(options={"index": 0})
    >>> info["kind"]
    'v1-t7'
    >>> action = healthgym.call("finish", value=[-1])
    >>> observation, reward, terminated, truncated, info = env.step(action)
    >>> reward, terminated, info["success"]
    (0.0, True, False)

    ## Version History

    * v1: what can be guessed earns nothing (the changelog's *Grading changes* say it in full).
      Orders are read whole; questions state codes, thresholds and doses drawn for the task in ten
      wordings a type; results go on for pages; training splits are balanced.
    * v0: first version, never released.
    """

    def __init__(
        self,
        *,
        task_types: Sequence[str] | Mapping[str, float] | None = None,
        difficulty: str | ChartConfig | Mapping[str, float] = "medium",
        benchmark: str | None = None,
        source: str | Path | ChartSource = SYNTHETIC,
        charts: str | Path | None = None,
        protocol: str = "tools",
        store_writes: bool = True,
        retold: str | None = None,
        fold: int = 0,
        **common: Unpack[Common],
    ) -> None:
        made = FhirRecordFamily(
            task_types=task_types,
            difficulty=difficulty,
            benchmark=benchmark,
            source=source,
            charts=charts,
            protocol=protocol,
            store_writes=store_writes,
            retold=retold,
            fold=fold,
        )
        if made.protocol is Protocol.PUBLISHED:
            common.setdefault("profile", "paper")
        super().__init__(made, **common)
        if made.protocol.textual:
            self.observation_space = UnicodeText(self.config.max_observation)
            self.action_space = UnicodeText(MAX_ACTION_LENGTH)
