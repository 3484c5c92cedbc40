"""How the verifier of reviews is put to the proof."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from healthgym.core.borders import JsonDict
from healthgym.core.family import Script
from healthgym.core.proofs import Allowance, Item, Operator, Proofs
from healthgym.core.tool import ToolCall, call
from healthgym.envs.managed_care.changing import (
    Change,
    changing,
    leaving_out,
    places_of,
    replacing,
    steps_of,
    turning,
)
from healthgym.envs.managed_care.utilization_management.task import ReviewInstance
from healthgym.worlds.managed_care.vocabulary.authorization import DeterminationDecision

_NURSE, _PHYSICIAN = "review.save_criteria_evaluation", "review.save_md_review"
_ADVICE, _WORD = "review.submit_nurse_case_recommendation", "review.submit_md_case_decision"
#: Words of a physician that deny, in whole or in part.
_ADVERSE = ("deny", "partial_approve")
_FINAL = "determination.finalize"
_ASKED, _SUMMARY = "p2p_session.send_turn", "p2p_session.submit_summary"
_TRIAGE = "triage.set_disposition"
_DELIVER = "payer_letter_center.deliver"
_NOTICE = "payer_letter_center.generate_notification"
#: What is asked on a call of peers stands after these words.
_QUESTION = "What can you tell me about "
_RESULTS = {"met": "not_met", "not_met": "met", "unclear": "met"}
#: Makes another finding of one; None where that cannot be.
_Turn = Callable[[ReviewInstance, JsonDict, np.random.Generator], JsonDict | None]


def _finding(turn: _Turn) -> Change[ReviewInstance]:
    """Return what changes one finding of a review."""

    def change(
        instance: ReviewInstance, arguments: JsonDict, rng: np.random.Generator
    ) -> JsonDict | None:
        found = [dict(each) for each in arguments["evaluations"]]
        for place in rng.permutation(len(found)):
            turned = turn(instance, found[int(place)], rng)
            if turned is not None:
                found[int(place)] = turned
                return {**arguments, "evaluations": found}
        return None

    return change


def _result(instance: ReviewInstance, found: JsonDict, rng: np.random.Generator) -> JsonDict:
    return {**found, "result": _RESULTS[str(found["result"])]}


def _unsourced(
    instance: ReviewInstance, found: JsonDict, rng: np.random.Generator
) -> JsonDict | None:
    bears = instance.reference.bearing.get(str(found["criterion_id"]))
    settled = found["result"] != "unclear"
    return {**found, "source_refs_used": []} if settled and bears else None


def _ill_sourced(
    instance: ReviewInstance, found: JsonDict, rng: np.random.Generator
) -> JsonDict | None:
    """Cite a page that says nothing of it in the place of those that do."""
    bears = instance.reference.bearing.get(str(found["criterion_id"]), frozenset())
    others = [each for each in instance.reference.packet if each not in bears]
    if found["result"] == "unclear" or not bears or not others:
        return None
    return {**found, "source_refs_used": [others[int(rng.integers(len(others)))]]}


def _all_sourced(
    instance: ReviewInstance, found: JsonDict, rng: np.random.Generator
) -> JsonDict | None:
    bears = instance.reference.bearing.get(str(found["criterion_id"]), frozenset())
    others = [each for each in instance.reference.packet if each not in bears]
    if found["result"] == "unclear" or not bears or len(others) < 3:
        return None
    return {**found, "source_refs_used": [*found["source_refs_used"], *others]}


def _misvalued(
    instance: ReviewInstance, found: JsonDict, rng: np.random.Generator
) -> JsonDict | None:
    """Write another number beside a result than the packet has."""
    observed = [dict(each) for each in found["item_observations"]]
    for each in observed:
        value = each["observed_value"]
        if isinstance(value, int | float) and not isinstance(value, bool) and value:
            each["observed_value"] = round(value * 1.5 + 1, 2)
            return {**found, "item_observations": observed}
    return None


def _in_reverse(
    instance: ReviewInstance, arguments: JsonDict, rng: np.random.Generator
) -> JsonDict:
    return {**arguments, "evaluations": list(arguments["evaluations"])[::-1]}


def _each_reworded(
    instance: ReviewInstance, arguments: JsonDict, rng: np.random.Generator
) -> JsonDict:
    found = [
        {**each, "notes": str(each["notes"]).replace("On record:", "The packet shows it as of")}
        for each in arguments["evaluations"]
    ]
    return {**arguments, "evaluations": found}


def _sources_in_reverse(
    instance: ReviewInstance, arguments: JsonDict, rng: np.random.Generator
) -> JsonDict:
    found = [
        {**each, "source_refs_used": list(each["source_refs_used"])[::-1]}
        for each in arguments["evaluations"]
    ]
    return {**arguments, "evaluations": found}


def _asking_for_all(
    instance: ReviewInstance, arguments: JsonDict, rng: np.random.Generator
) -> JsonDict | None:
    """Ask about every criterion, or with no word of what is missing."""
    wanted = instance.reference
    if not arguments.get("info_requested") or len(wanted.postures) < len(wanted.wanted) + 2:
        return None
    lines = [f"Criterion {name} of {wanted.policy.id}: a record" for name in wanted.postures]
    return {**arguments, "info_requested": "\n".join(lines)}


def _asking_in_other_words(
    instance: ReviewInstance, arguments: JsonDict, rng: np.random.Generator
) -> JsonDict | None:
    asked = str(arguments.get("info_requested") or "")
    if not asked.startswith("Criterion"):
        return None
    return {**arguments, "info_requested": f"Please send what is missing. {asked}. Thank you."}


def _asking_of_another(
    instance: ReviewInstance, arguments: JsonDict, rng: np.random.Generator
) -> JsonDict | None:
    """Ask on the call about another criterion than the disputed one."""
    said = str(arguments["message"])
    call_ = instance.reference.call
    if call_ is None or not said.startswith(_QUESTION):
        return None
    own = said.removeprefix(_QUESTION).split(",")[0]
    others = [name for name in instance.reference.postures if name != own]
    return {**arguments, "message": f"{_QUESTION}{others[0]}?"} if others else None


def _asking_kindly(
    instance: ReviewInstance, arguments: JsonDict, rng: np.random.Generator
) -> JsonDict | None:
    said = str(arguments["message"])
    if not said.startswith(_QUESTION):
        return None
    about = said.removeprefix(_QUESTION).rstrip("?")
    return {**arguments, "message": f"Thank you for your time. Could you tell me about {about}?"}


def _summary_without_grounds(
    instance: ReviewInstance, arguments: JsonDict, rng: np.random.Generator
) -> JsonDict:
    return {**arguments, "summary": f"We talked. Outcome: {arguments['proposed_result']}."}


def _groundless(
    instance: ReviewInstance, arguments: JsonDict, rng: np.random.Generator
) -> JsonDict | None:
    """Let an adverse word rest on nothing that is named."""
    if not instance.reference.denied_on or arguments["decision"] not in _ADVERSE:
        return None
    said = "The criteria of the policy are not met."
    lines = [
        {**each, "denial_rationale": said} for each in arguments.get("line_item_decisions", [])
    ]
    return {
        **arguments,
        "clinical_notes": said,
        "determination_rationale": said,
        "denial_rationale": said if arguments.get("denial_rationale") else "",
        "line_item_decisions": lines,
    }


def _unsigned(
    instance: ReviewInstance, arguments: JsonDict, rng: np.random.Generator
) -> JsonDict | None:
    """Leave a decision unsigned; to ask for a call or for a document is none."""
    if arguments["decision"] not in (*_ADVERSE, "approve"):
        return None
    return {**arguments, "signed_off": False}


def _mended(instance: ReviewInstance, script: Script, rng: np.random.Generator) -> Script | None:
    """Enter one finding wrongly first, and put it right on the same review."""
    steps = steps_of(script)
    places = places_of(steps, {_NURSE, _PHYSICIAN})
    # Whoever calls has to offer other times than the script does, if it is later.
    if not places or instance.reference.answered or instance.reference.call:
        return None
    step = steps[places[0]]
    wrong = _finding(_result)(instance, dict(step.arguments), rng)
    review = "NR-0001" if step.name == _NURSE else "MDR-0001"
    right = ToolCall(step.name, {**step.arguments, "review_id": review})
    # In the place of all looks: who takes longer may find the desk of whoever is next left.
    looks = places_of(
        steps[: places[0]], {"review.get_nurse_review_data", "review.get_md_review_data"}
    )
    if not looks or wrong is None:
        return None
    before = [each for n, each in enumerate(steps[: places[0]]) if n not in looks]
    return [*before, ToolCall(step.name, wrong), right, *steps[places[0] + 1 :]]


def _looking_elsewhere(
    instance: ReviewInstance, script: Script, rng: np.random.Generator
) -> Script | None:
    """Look at the review's data in the place of the summary, or of no look."""
    steps = steps_of(script)
    for n in places_of(steps, {"determination.get_summary"}):
        own = instance.reference.case_id
        steps[n] = call("review.get_nurse_review_data", case_id=own)
    return steps


def _either(*operators: Operator) -> Operator:
    """Return what does the first of several that applies."""

    def do(instance: ReviewInstance, script: Script, rng: np.random.Generator) -> Script | None:
        made = (operator(instance, script, rng) for operator in operators)
        return next((one for one in made if one is not None), None)

    return do


def _findings(change: Change[ReviewInstance]) -> Operator:
    """Return what changes the last findings, of whoever looked last."""
    return _either(
        changing(_PHYSICIAN, change, last=True),
        changing(_NURSE, change, last=True),
    )


def _items(instance: ReviewInstance) -> Iterator[Item]:
    """Ask what the payer's word is, where the case ends with one."""
    word = instance.reference.determination
    if word is not None:
        yield Item("approved", word is DeterminationDecision.APPROVED)


PROOFS = Proofs(
    corruptions={
        "not_decided": leaving_out(_FINAL, ends=True),
        "a_finding_turned": _findings(_finding(_result)),
        "a_finding_without_source": _findings(_finding(_unsourced)),
        "a_finding_ill_sourced": _findings(_finding(_ill_sourced)),
        "everything_cited": _findings(_finding(_all_sourced)),
        "a_value_made_up": _findings(_finding(_misvalued)),
        "handed_on_instead": changing(
            _ADVICE, turning("recommendation", {"approve": "escalate"}), ends=True
        ),
        "asked_for_everything": changing(_ADVICE, _asking_for_all),
        "an_adverse_word_without_grounds": changing(_WORD, _groundless, last=True),
        "the_physician_unsigned": changing(_WORD, _unsigned),
        "approved_by_the_physician": changing(
            _WORD, turning("decision", {"deny": "approve", "partial_approve": "approve"}), ends=True
        ),
        "asked_of_another_criterion": changing(_ASKED, _asking_of_another),
        "a_summary_without_grounds": changing(_SUMMARY, _summary_without_grounds),
        "a_letter_undelivered": leaving_out(_DELIVER, last=True),
        "a_member_not_told": leaving_out(_NOTICE, last=True),
    },
    equivalents={
        "looking_elsewhere": _looking_elsewhere,
        "findings_in_another_order": _findings(_in_reverse),
        "findings_in_other_words": _findings(_each_reworded),
        "sources_in_another_order": _findings(_sources_in_reverse),
        "a_finding_mended": _mended,
        "advice_in_other_words": changing(_ADVICE, _asking_in_other_words),
        "a_remark_of_ones_own": changing(
            _WORD, replacing(clinical_notes="I have read the packet and the policy.")
        ),
        "a_kind_question": changing(_ASKED, _asking_kindly),
        "another_reason_of_the_disposition": changing(
            _TRIAGE, replacing(disposition_reason="Nothing exempts it from review.")
        ),
    },
    items=_items,
    artefacts={
        "approved": Allowance(
            0.65,
            "What a nurse may approve never comes to a physician; less of what waits there is.",
        )
    },
)
