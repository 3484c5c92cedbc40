"""The table of environments: one row for each id, with no import of what it names."""

from __future__ import annotations

import inspect
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING

import gymnasium as gym

from healthgym.errors import ConfigurationError

if TYPE_CHECKING:
    from healthgym.core.borders import AnyEnv, JsonDict, Settings
    from healthgym.core.env import HealthEnv
    from healthgym.core.family import AnyFamily


@dataclass(frozen=True, slots=True)
class Row:
    """A registered environment.

    Attributes:
        id: Gymnasium id, ``namespace/Name-vN``.
        entry_point: ``module:class``, imported when the environment is first made.
        kwargs: Arguments that make this configuration of the class, as JSON values.
        title: What the configuration is, in one line.
    """

    id: str
    entry_point: str
    kwargs: Settings = field(default_factory=dict)
    title: str = ""


_FHIR_RECORD = "healthgym.envs.fhir_record.env:FhirRecordEnv"
_UTILIZATION_MANAGEMENT = (
    "healthgym.envs.managed_care.utilization_management.env:UtilizationManagementEnv"
)

TABLE: tuple[Row, ...] = (
    Row(
        "HealthAgent/FhirRecord-v1",
        _FHIR_RECORD,
        title="all 20 task types of MedAgentBench v1 and v2, balanced",
    ),
    Row(
        "HealthAgent/MedAgentBenchV1-v1",
        _FHIR_RECORD,
        {"benchmark": "v1"},
        "the ten task types of version 1, under its conventions",
    ),
    Row(
        "HealthAgent/MedAgentBenchV2-v1",
        _FHIR_RECORD,
        {"benchmark": "v2"},
        "the ten task types of version 2, under its conventions",
    ),
    Row(
        "HealthAgent/MedAgentBenchV3-v1",
        _FHIR_RECORD,
        {"benchmark": "v3"},
        "the audited mix of both versions",
    ),
    Row(
        "HealthAgent/EhrFormatConversion-v1",
        "healthgym.envs.ehr_format_conversion.env:EhrFormatConversionEnv",
        title="raw hospital tables to a MEDS cohort, by requests from a grammar",
    ),
    Row(
        "HealthAgent/EhrFormatConversionCanonical-v1",
        "healthgym.envs.ehr_format_conversion.env:EhrFormatConversionEnv",
        {"canonical": True, "split": "test"},
        "the published request of HealthAgentBench, its only task",
    ),
    Row(
        "HealthAgent/TrialMatching-v1",
        "healthgym.envs.trial_matching.env:TrialMatchingEnv",
        title="match a patient to trials whose eligibility is computed",
    ),
    Row(
        "HealthAgent/TrialMatchingCanonical-v1",
        "healthgym.envs.trial_matching.env:TrialMatchingEnv",
        {"canonical": True},
        "the nine published tasks, in patient and composition of the pool",
    ),
    Row(
        "HealthAgent/EhrEventModelling-v1",
        "healthgym.envs.ehr_event_modelling.env:EhrEventModellingEnv",
        title="risk models of six first diagnoses on synthetic cohorts, training size",
    ),
    Row(
        "HealthAgent/EhrDataQuality-v1",
        "healthgym.envs.ehr_data_quality.env:EhrDataQualityEnv",
        title="audits of a small hospital's tables, with clues",
    ),
    Row(
        "HealthAgent/XrayCorrection-v1",
        "healthgym.envs.xray_correction.env:XrayCorrectionEnv",
        title="drafts of chest radiograph reports with errors, put right by looking",
    ),
    Row(
        "HealthAgent/XrayCorrectionCanonical-v1",
        "healthgym.envs.xray_correction.env:XrayCorrectionEnv",
        {"canonical": True},
        "ten drafts with the published themes, numbers of studies and of errors",
    ),
    Row(
        "HealthAgent/CtAbnormality-v1",
        "healthgym.envs.ct_abnormality.env:CtAbnormalityEnv",
        title="findings on synthetic chest CT, present as often as absent",
    ),
    Row(
        "HealthAgent/CtAbnormalityCanonical-v1",
        "healthgym.envs.ct_abnormality.env:CtAbnormalityEnv",
        {"canonical": True},
        "ten scans with the published numbers of findings and positives",
    ),
    Row(
        "HealthAgent/TumorAreaSelection-v1",
        "healthgym.envs.tumor_area.env:TumorAreaSelectionEnv",
        title="the tumour tiles of synthetic whole slides, found by looking",
    ),
    Row(
        "HealthAgent/TumorAreaSelectionCanonical-v1",
        "healthgym.envs.tumor_area.env:TumorAreaSelectionEnv",
        {"canonical": True},
        "ten slides with the published numbers of tumour tiles and extents",
    ),
    Row(
        "HealthAgent/MedicationReconciliation-v1",
        "healthgym.envs.medication_reconciliation.env:MedicationReconciliationEnv",
        title="one medication list out of two half records, with a scripted colleague",
    ),
    Row(
        "HealthAgent/PriorAuthorization-v1",
        "healthgym.envs.managed_care.prior_authorization.env:PriorAuthorizationEnv",
        title="a prior authorization worked from the order to the payer's last word",
    ),
    Row(
        "HealthAgent/PriorAuthorizationCanonical-v1",
        "healthgym.envs.managed_care.prior_authorization.env:PriorAuthorizationEnv",
        {"canonical": True},
        "25 requests in the published mix: 8 to submit, 12 to gather for, 5 not to submit",
    ),
    Row(
        "HealthAgent/UtilizationManagement-v1",
        _UTILIZATION_MANAGEMENT,
        title="a payer's review of a request, from any of five stages to the letter",
    ),
    Row(
        "HealthAgent/UtilizationManagementCanonical-v1",
        _UTILIZATION_MANAGEMENT,
        {"canonical": True},
        "25 cases in the published mix of start stages, on the cases of prior authorization",
    ),
    Row(
        "HealthAgent/CareManagement-v1",
        "healthgym.envs.managed_care.care_management.env:CareManagementEnv",
        title="a referred member called, assessed and planned for, or left in peace",
    ),
    Row(
        "HealthAgent/CareManagementCanonical-v1",
        "healthgym.envs.managed_care.care_management.env:CareManagementEnv",
        {"canonical": True},
        "25 referrals by the published conditions and persons",
    ),
    Row(
        "HealthAgent/MarathonPriorAuthorization-v1",
        "healthgym.envs.managed_care.marathon.env:MarathonPriorAuthorizationEnv",
        title="a queue of orders in one episode, each worked to the payer's last word",
    ),
    Row(
        "HealthAgent/MarathonUtilizationManagement-v1",
        "healthgym.envs.managed_care.marathon.env:MarathonUtilizationManagementEnv",
        title="a queue of requests in one episode, each reviewed and answered",
    ),
    Row(
        "HealthAgent/MarathonCareManagement-v1",
        "healthgym.envs.managed_care.marathon.env:MarathonCareManagementEnv",
        title="a queue of referrals in one episode, each called, planned for or let go",
    ),
    Row(
        "HealthAgent/PriorAuthArena-v1",
        "healthgym.envs.managed_care.prior_auth_arena.env:PriorAuthArenaEnv",
        title="one request between a provider's desk and a payer's, somebody else at the other",
    ),
    Row(
        "HealthAgent/PriorAuthArenaCanonical-v1",
        "healthgym.envs.managed_care.prior_auth_arena.env:PriorAuthArenaEnv",
        {"canonical": True},
        "23 requests in the published mix, five of which hang on a call",
    ),
)


#: Environments with several agents, for PettingZoo. Here an entry point names a family.
ARENAS: tuple[Row, ...] = (
    Row(
        "HealthArena/MedicationReconciliation-v1",
        "healthgym.envs.medication_reconciliation.family:ReconciliationFamily",
        title="two clinicians, each with half of the record, agree on one medication list",
    ),
    Row(
        "HealthArena/PriorAuthArena-v1",
        "healthgym.envs.managed_care.prior_auth_arena.family:ArenaFamily",
        title="a provider and a payer take one request from the order to the last word",
    ),
)

_ARENA_FACE = "healthgym.integrations.pettingzoo"


def ids() -> tuple[str, ...]:
    """Return the registered ids, in the order of the table."""
    return tuple(row.id for row in TABLE)


def register_all() -> None:
    """Register every row with Gymnasium; what is registered already is left alone."""
    for row in TABLE:
        if row.id not in gym.registry:
            # The environment owns its turn budget (a truncated episode is still scored), so
            # Gymnasium's own time limit stays off.
            gym.register(row.id, entry_point=row.entry_point, kwargs=dict(row.kwargs))


def arena_ids() -> tuple[str, ...]:
    """Return the ids of the environments with several agents, in the order of their table."""
    return tuple(row.id for row in ARENAS)


def arena_row(arena_id: str) -> Row:
    """Return the row of an environment with several agents.

    Raises:
        ConfigurationError: If there is none of that id.
    """
    for row in ARENAS:
        if row.id == arena_id:
            return row
    raise ConfigurationError(
        f"There is no arena {arena_id!r}. Registered: {', '.join(arena_ids())}."
    )


def arena_family(arena_id: str, **own: object) -> AnyFamily:
    """Return the family of an environment with several agents.

    Args:
        arena_id: One of :func:`arena_ids`.
        own: Arguments of the family, such as ``difficulty``.

    Raises:
        ConfigurationError: If there is no such arena or argument.
    """
    row = arena_row(arena_id)
    module, _, name = row.entry_point.partition(":")
    family_class: type[AnyFamily] = getattr(import_module(module), name)
    accepted = inspect.signature(family_class).parameters
    unknown = sorted(own.keys() - accepted.keys())
    if unknown:
        raise ConfigurationError(
            f"{arena_id} has no argument {', '.join(unknown)}; its own are {', '.join(accepted)}."
        )
    return family_class(**{**row.kwargs, **own})


def register_arenas() -> bool:
    """Register the environments with several agents with PettingZoo, if it is installed.

    Nothing calls it on ``import healthgym``, which stays light; importing
    ``healthgym.integrations.pettingzoo`` does. What is registered already is left alone.

    Returns:
        Whether PettingZoo is installed.
    """
    try:
        import pettingzoo
    except ImportError:
        return False
    for row in ARENAS:
        for kind, registry, maker in (
            ("aec", pettingzoo.aec_registry, "env"),
            ("parallel", pettingzoo.parallel_registry, "parallel_env"),
        ):
            if row.id not in registry:
                pettingzoo.register(
                    kind, row.id, f"{_ARENA_FACE}:{maker}", kwargs={"arena_id": row.id}
                )
    return True


def _instead(name: str) -> str:
    """Return what may have been meant by an id that there is not: one of ours, or the list."""
    if name in arena_ids():
        one_seat = name.replace("HealthArena/", "HealthAgent/")
        return (
            "It is an arena, with an agent in each seat: healthgym.register_arenas(), then "
            f'pettingzoo.make("aec", {name!r}); {one_seat} is the same with one seat yours.'
        )
    known = {each.lower(): each for each in ids()}
    # Who leaves out the namespace or the version, or has an older one, means the same.
    short = {key.partition("/")[2].rpartition("-v")[0]: each for key, each in known.items()}
    asked = name.lower().rpartition("/")[2]
    bare = asked.rpartition("-v")[0] if "-v" in asked else asked
    near = get_close_matches(bare, short, 3, 0.7) or [each for each in short if bare in each]
    found = [short[each] for each in near]
    if found:
        return f"Did you mean {' or '.join(dict.fromkeys(found))}?"
    return f"There are {', '.join(ids())}."


def read_settings(settings: Sequence[str]) -> JsonDict:
    """Return ``NAME=VALUE`` settings as arguments; a value that is not JSON is text.

    Raises:
        ConfigurationError: If a setting has no ``=``.
    """
    arguments: JsonDict = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name.isidentifier():
            raise ConfigurationError(f"--set takes NAME=VALUE, not {setting!r}.")
        try:
            arguments[name] = json.loads(value)
        except ValueError:
            arguments[name] = value
    return arguments


def make(env_id: str, kwargs: Settings | None = None) -> AnyEnv:
    """Make an environment, with a one-line reason where that is not possible.

    ``gymnasium.make`` does the same for programs; this is for faces that pass on what a person
    typed. Gymnasium's per-step checks are left out.

    Args:
        env_id: A registered id; as with Gymnasium, a ``module:`` before it is imported first.
        kwargs: Arguments of the environment.

    Raises:
        ConfigurationError: If there is no such id or argument.
    """
    register_all()
    module, _, name = env_id.rpartition(":")
    try:
        if module:
            import_module(module)
        spec = gym.spec(name)
    except ModuleNotFoundError as error:
        hint = "; install its folder (pip install -e)" if error.name == module else ""
        raise ConfigurationError(f"There is no environment {env_id!r}: {error}{hint}.") from None
    except gym.error.Error:
        raise ConfigurationError(f"There is no environment {env_id!r}. {_instead(name)}") from None
    entry = spec.entry_point
    if entry is None:
        raise ConfigurationError(f"{env_id!r} has no single-environment form.")
    creator = gym.envs.registration.load_env_creator(entry) if isinstance(entry, str) else entry
    accepted = inspect.signature(creator).parameters
    takes_any = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in accepted.values())
    unknown = [] if takes_any else sorted(set(kwargs or {}) - set(accepted))
    if unknown:
        raise ConfigurationError(
            f"{name} has no argument {', '.join(unknown)}; it has {', '.join(accepted)}."
        )
    return gym.make(name, disable_env_checker=True, **(kwargs or {}))


def make_health_env(env_id: str, kwargs: Settings | None = None) -> HealthEnv:
    """Make an environment as :func:`make` does and return it without Gymnasium's wrappers.

    Raises:
        ConfigurationError: If there is no such id or argument, or it is not one of ours.
    """
    from healthgym.core.unwrapping import health_env

    return health_env(make(env_id, kwargs))
