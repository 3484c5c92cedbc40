"""Referrals with a dictated text. Source: MedAgentBench v1, task 8."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import ClassVar, TypeVar

import numpy as np

from healthgym.core.tool import ToolCall, call
from healthgym.envs.fhir_record.draft import Draft
from healthgym.envs.fhir_record.kinds.base import Branch, TaskKind
from healthgym.envs.fhir_record.task import Decision, Facts, OrderSpec
from healthgym.envs.fhir_record.view import ChartView
from healthgym.worlds.fhir.shapes import SNOMED

T = TypeVar("T")


#: Joint -> (finding of the imaging, assessment) pairs that may follow an injury of it.
_INJURIES = {
    "knee": (
        ("MRI with a meniscal tear", "bucket-handle tear of the medial meniscus"),
        ("MRI with discontinuity of the anterior cruciate ligament", "complete ACL rupture"),
        ("radiographs with a high-riding patella", "patellar tendon rupture"),
    ),
    "shoulder": (
        ("MRI with a full-thickness supraspinatus tear", "traumatic rotator cuff tear"),
        ("radiographs after reduction without fracture", "first anterior dislocation"),
        ("radiographs with a widened AC joint", "acromioclavicular separation, type III"),
    ),
    "ankle": (
        ("radiographs with a displaced lateral malleolus", "Weber B ankle fracture"),
        ("ultrasound with a tendon gap of 3 cm", "acute Achilles tendon rupture"),
    ),
    "wrist": (
        ("CT with a fracture line through the waist", "scaphoid fracture, not displaced"),
        ("radiographs with dorsal angulation of 25 degrees", "distal radius fracture"),
    ),
    "hip": (
        ("MRI with marrow oedema of the femoral neck", "femoral neck stress fracture"),
        ("MR arthrogram with a labral tear", "labral tear with impingement"),
    ),
    "elbow": (
        ("MRI with a retracted tendon", "distal biceps tendon rupture"),
        ("radiographs with a posterior fat pad", "radial head fracture, Mason I"),
    ),
}
_SIDES = ("left", "right")
_MECHANISMS = (
    "a fall on ice",
    "a twisting injury at football",
    "a fall from a ladder",
    "a bicycle accident",
    "a collision at work",
)
_REQUESTS = (
    "please examine and advise on operative or conservative treatment",
    "please see within the week and take over further care",
    "please assess the need for surgery and for immobilisation until then",
)


class OrthopedicReferral(TaskKind):
    """v1-T8: refer to orthopedic surgery, with the dictated text in the order and priority stat."""

    name = "v1-t8"
    title = "orthopedic surgery referral"
    orders: ClassVar = {"referral": "ServiceRequest"}
    branches = (Branch("refer", True),)
    codes: ClassVar = {"referral": "306181000000106"}

    def plant(self, draft: Draft, branch: str) -> Facts:
        """Draw an injury and write its four-part handover."""
        return self.facts(draft, **draw_details(draft.rng))

    def decide(self, view: ChartView, facts: Facts) -> Decision:
        """Require the referral, whatever the chart says."""
        order = OrderSpec(
            "referral",
            "ServiceRequest",
            "orthopedic referral",
            codes=(facts.codes["referral"],),
            system=SNOMED,
            priority="stat",
            note=facts.details["note"],
            verbatim=True,
            within=timedelta(days=7),
        )
        return Decision("refer", (), (order,))

    def lookups(self, facts: Facts, decision: Decision) -> Sequence[ToolCall]:
        """Open the patient, to be sure the number is somebody's."""
        return [call("search_patients", mrn=facts.patient)]

    def prior(self, facts: Facts) -> tuple[Sequence[ToolCall], Sequence[float | str]]:
        """Order what the question dictates: reading the chart adds nothing here."""
        order = call(
            "create_service_request",
            patient=facts.patient,
            code=facts.codes["referral"],
            system=SNOMED,
            priority="stat",
            note=facts.details["note"],
        )
        return [order], []


def draw_details(rng: np.random.Generator) -> dict[str, str]:
    """Return a handover in four parts as the details of a question."""
    joint = _choose(rng, list(_INJURIES))
    found, assessed = _choose(rng, _INJURIES[joint])
    days = int(rng.integers(1, 10))
    since = "yesterday" if days == 1 else f"{days} days ago"
    note = (
        f"Situation: {_choose(rng, _SIDES)} {joint} pain after {_choose(rng, _MECHANISMS)} "
        f"{since}. Background: {found}. Assessment: {assessed}. "
        f"Recommendation: {_choose(rng, _REQUESTS)}."
    )
    return {"note": note}


def _choose(rng: np.random.Generator, options: Sequence[T]) -> T:
    return options[int(rng.integers(len(options)))]
