"""Both sides as one plays them who reads what an agent reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress

from healthgym.core.players import Solver
from healthgym.core.tool import call
from healthgym.envs.managed_care.prior_authorization import solver as provider
from healthgym.envs.managed_care.reading.asking import Play, ask
from healthgym.envs.managed_care.utilization_management import lookups
from healthgym.envs.managed_care.utilization_management import solver as payer
from healthgym.envs.managed_care.utilization_management.memory import Memory
from healthgym.envs.managed_care.utilization_management.task import StartStage
from healthgym.envs.managed_care.utilization_management.wording import WHERE
from healthgym.errors import DataError
from healthgym.worlds.managed_care.findings import Finding
from healthgym.worlds.managed_care.relay import PAYER, PROVIDER
from healthgym.worlds.managed_care.vocabulary.authorization import Posture

_CASE = re.compile(r"\bCASE-[A-Z]*-?\d+\b")


class Reviewer(payer.Reviewer):
    """A reviewer who also asks for what the policy's notes keep for request."""

    def _wanted(self, found: Finding) -> list[str]:
        """Return what is to be asked for, one item a line; nothing where the packet decides."""
        wanted = super()._wanted(found)
        if found.assessment.posture is Posture.CONTRADICTS or self.reading is None:
            return wanted
        kept = sorted(map(str, self.reading.on_request - found.packet.kinds))
        return [*wanted, *(f"Document: {kind.replace('_', ' ')}" for kind in kept)]


def review(instruction: str) -> Play[None]:
    """Wait for a request, and see it through."""
    with suppress(DataError):
        shown = yield from ask("payer_intake_hub.list_intake_queue")
        found = _CASE.search(shown)
        if found is not None:
            who, _, _ = instruction.partition("\n")
            brief = lookups.read_brief(
                f"{who} Case {found[0]} is yours. {WHERE[StartStage.INTAKE]}"
            )
            yield from Reviewer(brief, Memory()).work()
    yield call("finish")


READERS: Mapping[str, Solver] = {PROVIDER: provider.solve, PAYER: review}
