"""A trial's latent criteria as a registry record in words."""

from __future__ import annotations

import numpy as np

from healthgym.envs.trial_matching.dice import Dice
from healthgym.envs.trial_matching.phrasing import Style, Words, sentence, wording
from healthgym.envs.trial_matching.record import TrialRecord
from healthgym.envs.trial_matching.trials import Trial
from healthgym.envs.trial_matching.vocabulary import vocabulary

_MONTHS = ("January", "March", "April", "June", "September", "November")
_PHASES = ("Phase 1/Phase 2", "Phase 2", "Phase 2", "Phase 3", "Phase 3", "Phase 4", "N/A")
_AN = ("a", "e", "i", "o", "A", "N", "S1P", "LRRK2")
_PROCEDURES = ("system", "program", "strategy", "therapy", "training", "stimulat", "device")


def render(trial: Trial, style: Style) -> TrialRecord:
    """Return the record of a trial; the same for the same trial and style.

    Args:
        trial: The latent trial.
        style: How freely its criteria are worded.
    """
    dice = Dice(np.random.Generator(np.random.PCG64(trial.seed)), 96)
    words, forms = Words(dice, style), wording()
    names = vocabulary().findings[trial.condition]
    condition = _title_case(dice.pick(names[:2]))
    product = _product(dice)
    design, control = dice.pick(forms["designs"]), dice.pick(forms["controls"])
    filling = {
        "product": product,
        "a": "an" if trial.mechanism.startswith(_AN) else "a",
        "mechanism": trial.mechanism,
        "condition": condition,
        "design": design,
        "lower": design.lower(),
        "control": control,
        "weeks": dice.pick((8, 12, 16, 24, 26, 48, 52)),
        "visit": dice.pick((2, 4, 6, 8)),
    }
    device = any(word in trial.mechanism for word in _PROCEDURES)
    city, state = dice.pick(forms["cities"])
    return TrialRecord(
        nct_id=trial.nct_id,
        title=dice.pick(forms["titles"]).format(**filling),
        official_title=f"A {design} of {product} ({trial.mechanism}) in {condition}",
        sponsor=dice.pick(forms["sponsors"]),
        summary=dice.pick(forms["summaries"]).format(**filling),
        description=dice.pick(forms["descriptions"]).format(**filling),
        status="Recruiting",
        start=f"{dice.pick(_MONTHS)} {dice.between(2016, 2020)}",
        phase=dice.pick(_PHASES),
        study_type="Interventional",
        outcome=dice.pick(forms["outcomes"]),
        enrollment=str(10 * dice.between(2, 90)),
        conditions=(condition,),
        interventions=(("Other" if device else "Drug", product),),
        criteria=_criteria(trial, words),
        gender={"": "All", "female": "Female", "male": "Male"}[trial.sex.sex],
        minimum_age=_age(trial.age.low),
        maximum_age=_age(trial.age.high),
        healthy_volunteers="No",
        place=(city, state, "United States"),
        keywords=(names[-1],),
    )


def _criteria(trial: Trial, words: Words) -> str:
    lead, *others = trial.inclusion
    inclusion = [words.condition(lead), *(words.criterion(item) for item in others)]
    varied = words.style.varied
    if varied and words.dice.chance(0.4):
        inclusion.insert(1, words.age(trial.age))
    exclusion = [words.criterion(item) for item in trial.exclusion] or ["none beyond the above"]
    lines = [words.form("inclusion_heads"), *(f"- {sentence(item)}" for item in inclusion)]
    lines += [words.form("exclusion_heads"), *(f"- {sentence(item)}" for item in exclusion)]
    return "\n".join(lines)


def _age(years: int | None) -> str:
    return "N/A" if years is None else f"{years} Years"


def _product(dice: Dice) -> str:
    letters = "".join(dice.pick("BCDFGHKLMNPRSTVXZ") for _ in range(dice.between(2, 3)))
    return f"{letters}-{dice.between(101, 9899)}"


def _title_case(name: str) -> str:
    return " ".join(w if any(c.isupper() for c in w) else w.capitalize() for w in name.split())
