"""Gymnasium environments over a FHIR record system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from healthgym.core import arguments
from healthgym.core.env import HealthEnv
from healthgym.core.episode import RewardFunction
from healthgym.core.family import EpisodeConfig
from healthgym.envs.fhir_record.assembly import assemble
from healthgym.envs.fhir_record.draft import ChartConfig
from healthgym.envs.fhir_record.family import FhirRecordFamily
from healthgym.envs.fhir_record.generator import ChartSource
from healthgym.envs.fhir_record.paper.base import BENCHMARK_DEFECTS, HONEST_DEFECTS
from healthgym.rewards import Costs, resolve


class FhirRecordEnv(HealthEnv):
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
    than JSON, and say how to read on where there is more.

    ## Action Space

    ``JsonText``: a tool call ``{"name": ..., "arguments": {...}}``, or any other form
    :func:`healthgym.core.action.parse` accepts.

    | Tool | Kind | Effect |
    | --- | --- | --- |
    | `search_patients` | read | Patients by name, birth date or record number |
    | `search_observations` | read | Measurements, newest first |
    | `search_medication_requests` | read | Medication orders with their ids |
    | `search_procedures` | read | Procedures, newest first |
    | `search_conditions` | read | Diagnoses |
    | `search_service_requests` | read | Orders for tests, referrals and nursing |
    | `next_page` | read | More rows of an earlier search |
    | `search_fhir` | read | Any FHIR search, as JSON |
    | `read_resource` | read | One resource, as JSON |
    | `calculate` | read | Arithmetic; takes no time |
    | `record_observation` | write | Records a vital sign |
    | `create_medication_request` | write | Orders a medication |
    | `create_service_request` | write | Orders a test, a study, a referral or a nursing task |
    | `stop_medication_request` | write | Discontinues a medication order |
    | `finish` | submit | Hands in the answer and ends the episode |

    ## Starting State

    The seed draws a task type (uniformly, or by the weights given), then a branch of its rule:
    branches that call for a change of the record and branches that do not are equally likely
    where both occur, and branches with a constant answer are rare. Then a chart is drawn on
    which that branch applies, boundary values included: the patient, other patients (some of
    the same name), history by the density of the difficulty, and rows that punish shortcuts:
    newer rows in the future, older rows outside the window, other units, other patients. The
    world's clock starts at the time printed in the question; each call takes a minute, and a
    refused call takes none.

    ## Rewards

    ``sparse``: 1 if the episode ends with ``finish`` and every check of the profile passes,
    else 0. ``shaped``: the change of the verdict's progress at each step, which sums to the
    final progress, 1 for success. Doing nothing scores 0 under both.

    Checks of the ``strict`` profile: *finished*, an answer is handed in (doing nothing fails);
    *answer*, the finish value is what the chart says, element by element (doing nothing
    fails); *NAME_written* and *NAME_details* for each required order, that there is exactly
    one for the right patient and that its dose, route, timing, priority and text are right
    (doing nothing fails); *orders_stopped*, that what must not go on is discontinued (doing
    nothing fails); *no_stray_writes*, that nothing else was written (doing nothing passes,
    and adds nothing to the progress). The ``paper`` profile is the published grader of the
    task type; its defects are listed in
    :class:`healthgym.envs.fhir_record.paper.base.Defect`.

    ## Episode End

    ``terminated`` when ``finish`` is called. ``truncated`` when ``max_turns`` calls were made
    without it; the episode is scored all the same.

    ## Information

    ``reset``: ``task_id``, ``split``, ``kind`` (task type), ``tools`` (OpenAI function form).
    ``step``: ``task_id``, ``turns_left``, ``time``, ``error`` if a call was refused; at the
    end ``success`` and ``verdict`` with both profiles.

    ## Arguments

    - `split` (str, "train"): ``"train"``, ``"validation"`` or ``"test"``; no patient is in two.
    - `reward` (str or RewardFunction, "sparse"): ``"sparse"``, ``"shaped"`` or your own function.
    - `profile` (str, "strict"): Profile that decides success and reward.
    - `task_types` (list or dict, None): Task types to draw, with weights if a dict; all if None.
    - `difficulty` (str, dict or ChartConfig, "medium"): ``"easy"``, ``"medium"``, ``"hard"``, or
        weights of several, among which a curriculum chooses.
    - `benchmark` (str, None): ``"v1"``, ``"v2"`` or ``"v3"``: the published mix, wording
        conventions, frozen clock and grader defects.
    - `source` (str, "synthetic"): ``"synthetic"``; or a folder of FHIR R4 bundles, on which the
        questions it has data for are asked; or a published task file (``.json``), whose questions
        are asked verbatim. A published file has a test split only.
    - `charts` (str, None): For a published task file: a folder of FHIR files or the address of a
        FHIR server that holds its patients; made-up charts that fit if None.
    - `max_turns` (int, 12): Tool calls an episode may take.
    - `costs` (Costs or dict, None): Charges per call, per refused call, and for not finishing.
    - `render_mode` (str, None): ``"ansi"`` or ``"rgb_array"``.

    ## Registered Configurations

    ``HealthAgent/FhirRecord-v0`` (all types, balanced branches, honest paper profile),
    ``HealthAgent/MedAgentBenchV1-v0``, ``HealthAgent/MedAgentBenchV2-v0`` and
    ``HealthAgent/MedAgentBenchV3-v0`` (``benchmark="v1"``, ``"v2"``, ``"v3"``).

    ## Example

    >>> import gymnasium as gym
    >>> import healthgym
    >>> env = gym.make("HealthAgent/FhirRecord-v0", task_types=["v1-t7"], difficulty="easy")
    >>> observation, info = env.reset(options={"index": 0})
    >>> info["kind"]
    'v1-t7'
    >>> action = healthgym.call("finish", value=[-1])
    >>> observation, reward, terminated, truncated, info = env.step(action)
    >>> reward, terminated, info["success"]
    (0.0, True, False)

    ## Version History

    * v0: first version.
    """

    def __init__(
        self,
        *,
        split: str = "train",
        reward: str | RewardFunction = "sparse",
        profile: str = "strict",
        task_types: Sequence[str] | Mapping[str, float] | None = None,
        difficulty: str | ChartConfig | Mapping[str, float] = "medium",
        benchmark: str | None = None,
        source: str | Path | ChartSource = "synthetic",
        charts: str | Path | None = None,
        max_turns: int = 12,
        costs: Costs | Mapping[str, float] | None = None,
        render_mode: str | None = None,
    ) -> None:
        generator, benchmark = assemble(benchmark, task_types, difficulty, source, charts)
        defects = BENCHMARK_DEFECTS[benchmark] if benchmark else HONEST_DEFECTS
        config = EpisodeConfig(
            max_turns=arguments.turns(max_turns),
            step_time=timedelta(0) if benchmark else timedelta(minutes=1),
            show_clock=benchmark is None,
            profile=arguments.profile(profile),
        )
        super().__init__(
            FhirRecordFamily(generator, defects=defects, published=benchmark is not None),
            resolve(reward, costs),
            split=split,
            config=config,
            render_mode=render_mode,
        )
