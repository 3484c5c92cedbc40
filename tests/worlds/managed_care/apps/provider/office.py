"""A provider's office to play at: one case of the recorded base world, in either kind of rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from healthgym.worlds.managed_care.apps.provider import forms
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.rules import Rules
from healthgym.worlds.managed_care.vocabulary.authorization import (
    CaseStatus,
    PlaceOfService,
    ProviderDeterminationAction,
    ServiceTypeCategory,
    SubmissionChannel,
    UploadableDocumentKind,
    Urgency,
)
from healthgym.worlds.managed_care.world import ManagedCareWorld
from tests.worlds.managed_care.recorded import build

CASE = "CASE-T"
SUBMIT, GATHER, KEEP = ProviderDeterminationAction
PORTAL = SubmissionChannel.PORTAL
Act = Callable[[ManagedCareWorld], object]

#: An order that every office takes.
ORDER: Mapping[str, Any] = {
    "patient_id": "P1",
    "ordering_practitioner_id": "PR-1",
    "service_type": ServiceTypeCategory.RADIOLOGY,
    "procedure_code": "70551",
    "description": "MRI of the brain",
    "priority": Urgency.EXPEDITED,
    "diagnosis_codes": ["G43.9"],
    "site_of_service": PlaceOfService.OFFICE,
}


def office(
    rules: Rules = Rules.STRICT,
    status: CaseStatus = CaseStatus.DRAFT,
    *,
    mode: str = "agent",
    **policy: Any,
) -> ManagedCareWorld:
    """Return a world with one case; its intake is complete once it was sent."""
    setup: dict[str, Any] = {
        "cases": [{"id": CASE, "status": str(status), "policy": policy}],
        "payer_mode": mode,
    }
    if mode == "agent" and status not in (CaseStatus.DRAFT, CaseStatus.DOCS_NEEDED):
        setup["intakes"] = [{"case_id": CASE}]
    return build(setup, "pa_um", rules)


def refused(world: ManagedCareWorld, act: Act) -> Refusal:
    """Play a call that must be refused; nothing of it may be left."""
    before = world.digest()
    savepoint = world.journal.begin()
    with pytest.raises(Refusal) as caught:
        act(world)
    world.journal.rollback(savepoint)
    assert world.digest() == before
    assert str(caught.value).endswith(".")
    return caught.value


def strict_only(prepare: Act, act: Act, code: RefusalCode, **setup: Any) -> None:
    """Play one call in both kinds of world: a compatible one carries it out, a strict refuses."""
    lenient, strict = office(Rules.COMPAT, **setup), office(Rules.STRICT, **setup)
    prepare(lenient)
    prepare(strict)
    act(lenient)
    assert refused(strict, act).code is code


def fill(world: ManagedCareWorld, case_id: str = CASE) -> None:
    """Answer all forms of a case."""
    keys = forms.all_missing(forms.of_case(world, case_id))
    world.documents.save_form_response(case_id, dict.fromkeys(keys, "1"))


def upload(world: ManagedCareWorld, title: str = "Letter", case_id: str = CASE) -> str:
    """Put a text on file; return its id."""
    kind = UploadableDocumentKind.LETTER_OF_MEDICAL_NECESSITY
    return world.documents.upload_evidence(case_id, kind, title, "The service is needed.").id


def bundle(world: ManagedCareWorld, *documents: str) -> str:
    """Put a packet together; return its id."""
    made = world.documents.create_submission_bundle(CASE, documents or ("DOC-1", "DOC-2"))
    return str(getattr(made["bundle_document"], "id"))  # noqa: B009 - the view is of objects


def decide(world: ManagedCareWorld) -> None:
    """Fill the forms, make a complete packet and decide to submit it."""
    fill(world)
    bundle(world)
    world.authorizations.finalize(CASE, SUBMIT)


def send(world: ManagedCareWorld) -> None:
    """Send a case that was decided on."""
    decide(world)
    world.authorizations.submit(CASE, PORTAL)


def nothing(world: ManagedCareWorld) -> None:
    """Prepare nothing."""
