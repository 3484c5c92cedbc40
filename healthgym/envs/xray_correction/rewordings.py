"""Other ways to say a true sentence of a report: some say something else, some the same."""

from __future__ import annotations

import re

import numpy as np

from healthgym.envs.xray_correction.claims import (
    LEFT,
    RIGHT,
    SEVERITIES,
    Claim,
    Statement,
    compare,
)
from healthgym.envs.xray_correction.swaps import principles
from healthgym.envs.xray_correction.wording import Wording, nouns

#: What takes a sentence back, before it and after it.
_BEFORE = (
    "It is false that",
    "It is unclear whether",
    "I doubt that",
    "On the prior study,",
    "In another patient,",
    "Evaluate for:",
    "The draft wrongly says that",
    "History of",
    "Had the patient been upright,",
)
_AFTER = (
    ", which is not so",
    ", disproven",
    ", or not",
    " (wrong patient)",
    ", cannot be excluded",
    "; the opposite holds",
    " last year",
    ", if any",
    ", since resolved",
)
#: Findings that no report of this family holds.
FABRICATED = (
    "a lung mass is seen",
    "there is free air under the diaphragm",
    "the patient is deceased",
    "the aorta has ruptured",
    "there is a fracture of the left clavicle",
    "there is a hiatal hernia",
    "follow-up in three months is advised",
)
#: Words for which a radiologist may take others, with these.
_SYNONYMS = (
    (r"\bis seen\b", "is identified"),
    (r"\bis identified\b", "is present"),
    (r"\bis present\b", "is seen"),
    (r"\bunchanged\b", "stable"),
    (r"^There is no (?!evidence|prior|previous)", "No evidence of "),
    (r"\bsmall\b", "mild"),
    (r"\bmild\b", "small"),
)

#: What is said of a finding that is before one's eyes.
_SEEN = "seen|identified|noted|demonstrated|visualized|observed|appreciated|present"

#: Words that narrow what is denied, by entity.
_NARROWER = {
    "edema": ("overt", "frank", "alveolar", "interstitial"),
    "atelectasis": ("linear", "subsegmental", "discoid"),
    "nodule": ("suspicious", "discrete", "calcified"),
    "fracture": ("acute", "healing"),
}


def taken_back(statement: Statement, rng: np.random.Generator) -> str:
    """Take a sentence back, before it or after it."""
    text = statement.text
    words = str(rng.choice([*_BEFORE, *_AFTER]))
    if words in _BEFORE:
        return f"{words} {text[0].lower()}{text[1:]}"
    return f"{text.rstrip('.')}{words}."


def fabricated(statement: Statement, rng: np.random.Generator) -> str:
    """Add a finding that is made up."""
    words, joint = str(rng.choice(FABRICATED)), str(rng.choice([", ", ", and ", "; ", ". "]))
    text = f"{statement.text.rstrip('.')}{joint}{words}."
    return text if joint != ". " else text.replace(f". {words}", f". {words.capitalize()}")


def _other_claim(claim: Claim, rng: np.random.Generator) -> Claim | None:
    """Return another claim about the same thing, by any of the ways in which drafts are spoilt."""
    ways = list(principles(claim).values())
    for place in rng.permutation(len(ways)):
        other = ways[int(place)](claim, rng, ("upper", "mid", "lower"))
        if compare(claim, other):
            return other
    return None


def turned(statement: Statement, rng: np.random.Generator) -> str | None:
    """Say something else of what a sentence is about."""
    claims = list(statement.claims)
    place = int(rng.integers(len(claims)))
    other = _other_claim(claims[place], rng)
    if other is None or len(claims) > 2:
        return None
    claims[place] = other
    return Wording(int(rng.integers(99))).sentence(claims, 0)


def opposed(statement: Statement, rng: np.random.Generator) -> str | None:
    """Say the opposite beside what is true."""
    other = turned(statement, rng)
    if other is None:
        return None
    joint = str(rng.choice([", ", ", but ", "; ", " or ", " "]))
    second = other if joint == " " else f"{other[0].lower()}{other[1:]}"
    first = statement.text if joint == " " else statement.text.rstrip(".")
    return f"{first}{joint}{second}"


def mirrored(statement: Statement, rng: np.random.Generator) -> str | None:
    """Exchange left and right."""
    sides = {LEFT: RIGHT, RIGHT: LEFT}
    if not any(claim.side in sides for claim in statement.claims):
        return None

    def mirror(match: re.Match[str]) -> str:
        side = sides[match[0].lower()]
        return side.capitalize() if match[0][0].isupper() else side

    return re.sub(r"\b(left|right)\b", mirror, statement.text, flags=re.IGNORECASE)


def denied(statement: Statement, rng: np.random.Generator) -> str:
    """Deny a sentence by its verb, or by a word before it."""
    denied = re.sub(r"\b(is|are|has|have)\b", r"\1 not", statement.text, count=1)
    return (
        denied
        if denied != statement.text
        else f"No {statement.text[0].lower()}{statement.text[1:]}"
    )


def vague(statement: Statement, rng: np.random.Generator) -> str | None:
    """Leave the side, the place, the size, the number or the comparison out."""
    claims = [
        Claim(
            claim.entity, claim.present, place="" if claim.severity or claim.side else claim.place
        )
        for claim in statement.claims
    ]
    if len(claims) > 2 or all(
        not compare(a, b) for a, b in zip(statement.claims, claims, strict=True)
    ):
        return None
    return Wording(0, plain=True).sentence(claims, 0)


def in_the_past(statement: Statement, rng: np.random.Generator) -> str | None:
    """Say of the past what is; a comparison is made in the past as well."""
    if statement.claims[0].entity == "comparison":
        return None
    past = {"is": "was", "are": "were", "terminates": "terminated", "projects": "projected"}
    been = {"is": "has been", "are": "have been"}
    # What "has been identified" is there: the perfect of seeing is no past of what is seen.
    seen = re.search(rf"\b(?:is|are) (?:{_SEEN})\b", statement.text)
    table = past if seen or rng.random() < 0.7 else been
    text = re.sub(
        rf"\b({'|'.join(table)})\b", lambda match: table[match[0]], statement.text, count=1
    )
    return None if text == statement.text else text


def _absent(statement: Statement) -> str:
    """Return what the one thing is called that a sentence says is not there; empty if none."""
    if len(statement.claims) != 1 or statement.claims[0] != Claim(
        statement.claims[0].entity, False
    ):
        return ""
    return nouns().get(statement.claims[0].entity, "")


def history(statement: Statement, rng: np.random.Generator) -> str | None:
    """Make up that what is absent was there."""
    noun = _absent(statement)
    forms = (
        f"The {noun} has resolved.",
        f"There is no longer a {noun}.",
        f"Interval resolution of the {noun}.",
        f"The {noun} has disappeared.",
        f"There is still no {noun}.",
        f"There is no residual {noun}.",
    )
    return str(rng.choice(forms)) if noun else None


def narrower(statement: Statement, rng: np.random.Generator) -> str | None:
    """Deny a part only of what is absent."""
    noun, kinds = _absent(statement), ("sizable", "new", "large", "left-sided", "residual")
    if not noun:
        return None
    kind = str(rng.choice([*kinds, *_NARROWER.get(statement.claims[0].entity, ())]))
    return f"There is no {kind} {noun}."


def former_size(statement: Statement, rng: np.random.Generator) -> str | None:
    """Tell the size of before, and that it changed."""
    if len(statement.claims) != 1 or statement.claims[0].severity not in SEVERITIES:
        return None
    claim = statement.claims[0]
    verb = {"worsened": "increased", "improved": "decreased"}.get(claim.change)
    noun, size = nouns().get(claim.entity), "small" if claim.severity == "mild" else "large"
    if verb is None or noun is None:
        return None
    where = f"{claim.side} {claim.place} zone" if claim.place else claim.side
    forms = (
        f"The {where} {noun} has {verb} from {size}.",
        f"A previously {size} {where} {noun} has {verb}.",
        f"The {where} {noun} was {size} and has {verb}.",
    )
    return str(rng.choice(forms))


def reworded(statement: Statement, rng: np.random.Generator) -> str | None:
    """Say the same in other words of the generator."""
    if len(statement.claims) > 2:
        return None
    return Wording(int(rng.integers(1, 999))).sentence(statement.claims, int(rng.integers(9)))


def synonym(statement: Statement, rng: np.random.Generator) -> str | None:
    """Put a synonym for one word."""
    for place in rng.permutation(len(_SYNONYMS)):
        old, new = _SYNONYMS[int(place)]
        text = re.sub(old, new, statement.text, count=1)
        if text != statement.text:
            return text
    return None


def in_other_forms(statement: Statement, rng: np.random.Generator) -> str | None:
    """Say in a radiologist's other forms that something is absent, or how many tubes there are."""
    noun = _absent(statement)
    if noun:
        forms = (
            f"No radiographic evidence for {noun}.",
            f"There is no sign of {noun}.",
            f"No findings consistent with {noun}.",
        )
        return str(rng.choice(forms))
    claims = statement.claims
    if len(claims) == 1 and claims[0].entity == "chest_tube" and claims[0].count > 1:
        number, side = {2: "two", 3: "three"}[claims[0].count], claims[0].side
        return str(
            rng.choice(
                [
                    f"{side.capitalize()} chest tubes, {number} in number.",
                    f"{number.capitalize()} chest tubes project over the {side} hemithorax.",
                ]
            )
        )
    return None
