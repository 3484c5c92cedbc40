"""The steps of the payer's staff: how long each takes, and who does it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from healthgym.worlds.managed_care.staff import WorkerRole

#: Business time that a step takes, before what lies on the worker's desk already.
TAKES: Mapping[str, timedelta] = {
    "intake": timedelta(minutes=20),
    "triage": timedelta(minutes=10),
    "nurse": timedelta(minutes=50),
    "physician": timedelta(minutes=60),
    "offer": timedelta(minutes=15),
    "determine": timedelta(minutes=5),
    "letter": timedelta(minutes=15),
    "appeal": timedelta(hours=16),
    "external": timedelta(hours=24),
}
#: The same, of an expedited case, where it is shorter.
HURRIED: Mapping[str, timedelta] = {"appeal": timedelta(hours=4), "external": timedelta(hours=6)}
#: What each case on the worker's desk adds.
PER_CASE = timedelta(minutes=1)
#: Steps that a decision by law, or a lapse, makes needless.
BEFORE_DECISION = frozenset(
    {"intake", "triage", "nurse", "physician", "offer", "missed", "determine"}
)
#: Who does a step.
ROLES: Mapping[str, WorkerRole] = {
    "intake": WorkerRole.INTAKE_COORDINATOR,
    "triage": WorkerRole.INTAKE_COORDINATOR,
    "nurse": WorkerRole.UM_NURSE,
    "physician": WorkerRole.PHYSICIAN_REVIEWER,
    "offer": WorkerRole.PHYSICIAN_REVIEWER,
    "letter": WorkerRole.LETTER_SPECIALIST,
    "appeal": WorkerRole.APPEALS_MEDICAL_DIRECTOR,
    "external": WorkerRole.EXTERNAL_REVIEW_COORDINATOR,
}
