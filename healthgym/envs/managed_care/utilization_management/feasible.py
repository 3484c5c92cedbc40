"""Whether a case can still be decided in time: a call takes the hours of two offices."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from healthgym.envs.managed_care.cases.clinic import REGION
from healthgym.envs.managed_care.utilization_management.task import StartStage
from healthgym.errors import ConfigurationError
from healthgym.worlds.managed_care import deadlines
from healthgym.worlds.managed_care.calendar import office_calendar
from healthgym.worlds.managed_care.world import ManagedCareWorld

#: Business hours that a case with a call takes from each stage: two until the practice has chosen
#: a time, one for the call, and what has to be written before and after; a pend stops the clock.
_NEEDS: Mapping[StartStage, timedelta] = {
    StartStage.INTAKE: timedelta(hours=10),
    StartStage.TRIAGE: timedelta(hours=9),
    StartStage.NURSE_REVIEW: timedelta(hours=8),
    StartStage.MD_REVIEW: timedelta(hours=6),
    StartStage.PEER_TO_PEER: timedelta(hours=5),
}


def require_time(world: ManagedCareWorld, case_id: str, stage: StartStage, now: datetime) -> None:
    """Refuse a case whose limit leaves no time for the call that is due.

    Args:
        world: The world in which it was worked up.
        case_id: The case.
        stage: Where the agent takes it over.
        now: When.

    Raises:
        ConfigurationError: If the practice's office is not open for long enough until then.
    """
    limit = deadlines.decision_deadline(world, case_id)
    if office_calendar(REGION).business_time(now, limit) < _NEEDS[stage]:
        raise ConfigurationError(f"{case_id} is due before a call can be held.")
