"""The conformance suite and replay, for anyone who adds an environment.

Each check takes a registered id (``"module:Name-v0"`` imports the module that registers it), raises
:class:`healthgym.errors.ConformanceError` where a promise is broken, and returns what it measured.
:data:`CHECKS` are all of them, to be run one by one.
"""

from collections.abc import Callable

from healthgym.testing.artefacts import artefact_rates, check_artefacts
from healthgym.testing.blind import Return, check_blind, measured_chance
from healthgym.testing.canaries import Canary, freeze, read_canaries, replay_canary
from healthgym.testing.constants import Amounts, check_constants, constant_rates
from healthgym.testing.declarations import check_declared_checks, check_indices
from healthgym.testing.determinism import (
    check_clone,
    check_determinism,
    check_isolation,
    check_processes,
    transcript_digest,
)
from healthgym.testing.distortions import Distorted, check_distortions, play_distortions
from healthgym.testing.face import check_docstring, check_gym_api, check_schemas
from healthgym.testing.faults import check_faults
from healthgym.testing.hostile import check_hostile_actions, hostile_actions
from healthgym.testing.leaks import check_non_interference, check_splits, instance_hash
from healthgym.testing.operators import (
    check_corruptions,
    check_equivalents,
    corruption_rates,
    equivalent_rates,
)
from healthgym.testing.replay import ReplayReport, replay
from healthgym.testing.scoring import (
    check_baselines,
    check_careless,
    check_oracle,
    check_tool_kinds,
)
from healthgym.testing.total import check_total

#: Every check of an environment; each needs no more than its id.
CHECKS: tuple[Callable[[str], object], ...] = (
    check_gym_api,
    check_docstring,
    check_schemas,
    check_declared_checks,
    check_indices,
    check_splits,
    check_determinism,
    check_processes,
    check_isolation,
    check_clone,
    check_oracle,
    check_baselines,
    check_constants,
    check_artefacts,
    check_corruptions,
    check_equivalents,
    check_blind,
    check_tool_kinds,
    check_non_interference,
    check_hostile_actions,
    check_total,
    check_distortions,
    check_faults,
)

__all__ = [
    "CHECKS",
    "Amounts",
    "Canary",
    "Distorted",
    "ReplayReport",
    "Return",
    "artefact_rates",
    "check_artefacts",
    "check_baselines",
    "check_blind",
    "check_careless",
    "check_clone",
    "check_constants",
    "check_corruptions",
    "check_declared_checks",
    "check_determinism",
    "check_distortions",
    "check_docstring",
    "check_equivalents",
    "check_faults",
    "check_gym_api",
    "check_hostile_actions",
    "check_indices",
    "check_isolation",
    "check_non_interference",
    "check_oracle",
    "check_processes",
    "check_schemas",
    "check_splits",
    "check_tool_kinds",
    "check_total",
    "constant_rates",
    "corruption_rates",
    "equivalent_rates",
    "freeze",
    "hostile_actions",
    "instance_hash",
    "measured_chance",
    "play_distortions",
    "read_canaries",
    "replay",
    "replay_canary",
    "transcript_digest",
]
