"""What an agent that knows the answer does, and what ones that do not look do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from healthgym.core.family import Script
from healthgym.core.tool import call
from healthgym.envs.xray_correction.claims import Claim, entities
from healthgym.envs.xray_correction.extractor import read
from healthgym.envs.xray_correction.swaps import principles, swap
from healthgym.envs.xray_correction.task import CorrectionInstance
from healthgym.envs.xray_correction.wording import Wording


def solve(instance: CorrectionInstance, rng: np.random.Generator) -> Script:
    """Look at the draft and the picture, put the wrong sentences right, submit."""
    start, reference = instance.start, instance.reference
    edits = [
        call("edit_sentence", number=number + 1, text=statement.text)
        for number, statement in enumerate(reference.truth)
        if statement.text != start.draft[number]
    ]
    last = len(start.radiographs.studies)
    return [call("show_draft"), call("view_image", study=last), *edits, call("submit")]


def leave(instance: CorrectionInstance, rng: np.random.Generator) -> Script:
    """Hand in the draft."""
    return [call("submit")]


def flood(instance: CorrectionInstance, rng: np.random.Generator) -> Script:
    """Say every sentence twice: as drafted, and with its claims turned round."""
    draft = instance.start.draft
    wording = Wording(0, plain=True)
    edits = []
    for number, text in enumerate(draft):
        turned = [_turned(claim, rng) for claim in read(text)]
        added = " ".join(wording.sentence([claim], number) for claim in turned)
        edits.append(call("edit_sentence", number=number + 1, text=f"{text} {added}"))
    return [*edits, call("submit")]


def prior(instance: CorrectionInstance, rng: np.random.Generator) -> Script:
    """Turn round as many statements as are wrong on average, without looking.

    Statements that something is absent are left: no principle makes a true finding absent.
    """
    draft = instance.start.draft
    usual = 2 if len(draft) <= 4 else len(draft) // 2
    claims = [read(text) for text in draft]
    loose = [n for n, group in enumerate(claims) if group and any(c.present for c in group)]
    chosen = [loose[int(k)] for k in rng.permutation(len(loose))[:usual]]
    wording = Wording(0, plain=True)
    edits = []
    for number in sorted(chosen):
        turned = [_turned(claim, rng) for claim in claims[number]]
        text = " ".join(wording.sentence([claim], number) for claim in turned)
        edits.append(call("edit_sentence", number=number + 1, text=text))
    return [*edits, call("submit")]


def delete(instance: CorrectionInstance, rng: np.random.Generator) -> Script:
    """Leave all findings out but that the heart is normal."""
    return [call("write_findings", text="FINDINGS: The heart size is normal."), call("submit")]


def _turned(claim: Claim, rng: np.random.Generator) -> Claim:
    """Return the likeliest other state of a claim: absent, or one attribute changed."""
    entity = entities()[claim.entity]
    if claim.present and entity.negative and not claim.change and rng.random() < 0.4:
        return Claim(claim.entity, present=False)
    swapped = swap(claim, rng) if principles(claim) else None
    if swapped is None:
        return claim if claim.present else replace(claim, present=True)
    return swapped[0]
