"""From what is true to what there is to see: scenes of a patient's studies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from healthgym.envs.xray_correction.claims import CHANGES, ZONES, Claim, entities
from healthgym.envs.xray_correction.swaps import draw_attributes
from healthgym.worlds.radiography.scene import Build, Scene, Sight

#: Findings that hide each other are never in one report, present or absent: which of them is
#: there could not be read from the pixels, or could be guessed from the text.
RIVALS: tuple[tuple[str, ...], ...] = (
    ("effusion", "volumes"),
    ("effusion", "diaphragm"),
    ("volumes", "diaphragm"),
    ("edema", "opacity", "consolidation", "atelectasis", "nodule"),
    ("central_line", "picc"),
    ("pacemaker", "sternal_wires"),
)
#: How often a report names something that is not there instead of something that is.
_ABSENT = 0.4
_AMOUNTS = {"mild": (0.32, 0.42), "severe": (0.76, 0.94)}
#: Amount in the prior study, by severity now and the change since.
_PRIORS = {
    ("mild", "worsened"): (0.06, 0.11),
    ("mild", "improved"): (0.66, 0.78),
    ("severe", "worsened"): (0.38, 0.48),
    ("severe", "improved"): (1.10, 1.20),
}
_RATIOS = {"normal": (0.425, 0.465), "mild": (0.55, 0.58), "severe": (0.65, 0.69)}
_PRIOR_RATIOS = {
    ("mild", "worsened"): (0.45, 0.48),
    ("mild", "improved"): (0.64, 0.67),
    ("severe", "worsened"): (0.56, 0.59),
    ("severe", "improved"): (0.74, 0.77),
}
_BREATHS = {"low": (-32.0, -25.0), "normal": (-4.0, 4.0), "high": (25.0, 32.0)}


def choose_entities(
    rng: np.random.Generator, count: int, allowed: Sequence[str], wanted: Sequence[str] = ()
) -> list[str]:
    """Return entities that can be read beside each other, those wanted among them."""
    chosen = list(wanted)
    pool = [name for name in allowed if name not in chosen]
    for place in rng.permutation(len(pool)):
        if len(chosen) >= count:
            break
        name = pool[int(place)]
        rivals = {other for group in RIVALS if name in group for other in group}
        if not rivals.intersection(chosen):
            chosen.append(name)
    order = list(entities())
    return sorted(chosen, key=order.index)


def draw_claim(
    rng: np.random.Generator,
    name: str,
    *,
    zones: tuple[str, ...] = ZONES,
    change: float = 0.0,
) -> Claim:
    """Draw what is true of an entity; every side, severity and state is as likely as the other."""
    entity = entities()[name]
    absent = float(rng.random())
    claim = draw_attributes(Claim(name), rng, zones)
    compared = float(rng.random()) < change
    direction = CHANGES[int(rng.integers(len(CHANGES)))]
    if entity.normal and absent < 1 / 3:
        return Claim(name, present=False)
    if entity.negative and absent < _ABSENT:
        return Claim(name, present=False)
    if entity.change and compared:
        return Claim(name, True, claim.side, claim.place, claim.severity, claim.count, direction)
    return claim


@dataclass(frozen=True, slots=True)
class _Level:
    """How much of a finding there is now and was in the prior study."""

    now: float
    before: float


def _level(rng: np.random.Generator, claim: Claim) -> _Level:
    heart = claim.entity == "heart"
    ranges = _RATIOS if heart else _AMOUNTS
    severity = claim.severity or ("normal" if heart else "severe")
    now = float(rng.uniform(*ranges[severity]))
    prior = (_PRIOR_RATIOS if heart else _PRIORS).get((severity, claim.change))
    return _Level(now, now if prior is None else float(rng.uniform(*prior)))


def draw_scenes(
    rng: np.random.Generator,
    build: Build,
    truth: Sequence[Claim],
    extras: Sequence[Sequence[Claim]],
    supine: Sequence[bool],
) -> list[Scene]:
    """Return a scene for each study, oldest first.

    Args:
        rng: Source of amounts and positions.
        build: The patient.
        truth: What is true in the last study.
        extras: What else is true in each of the earlier studies.
        supine: How the patient was imaged in each study, the last one included.
    """
    levels = {claim.entity: _level(rng, claim) for claim in truth}
    scenes = []
    last = len(extras)
    for study in range(last + 1):
        steps = last - study
        claims = list(truth) if steps == 0 else [*truth, *extras[study]]
        drift = float(rng.uniform(0.6, 1.4)) if steps > 1 else 1.0
        scenes.append(_scene(rng, build, claims, levels, steps, drift, supine[study]))
    return scenes


def _scene(
    rng: np.random.Generator,
    build: Build,
    claims: Sequence[Claim],
    levels: dict[str, _Level],
    steps: int,
    drift: float,
    supine: bool,
) -> Scene:
    ratio = float(rng.uniform(*_RATIOS["normal"]))
    breath = float(rng.uniform(*_BREATHS["normal"]))
    exposure, shift = int(rng.integers(2**31)), float(rng.uniform(-7, 7))
    sights = []
    for claim in claims:
        level = levels.get(claim.entity)
        amount = 0.5 if level is None else level.now if steps == 0 else level.before * drift
        if claim.entity == "heart":
            ratio = min(amount, 0.78)
        elif claim.present is False:
            continue
        elif claim.entity == "volumes":
            breath = float(rng.uniform(*_BREATHS[claim.place])) if steps == 0 else breath
        elif claim.entity == "diaphragm":
            sights.append(Sight("elevation", claim.side))
        elif claim.entity != "comparison":
            place, count = _moved(rng, claim, steps)
            sights.append(Sight(claim.entity, claim.side, place, min(amount, 1.2), count))
    return Scene(build, exposure, tuple(sights), ratio, breath, shift, supine)


def _moved(rng: np.random.Generator, claim: Claim, steps: int) -> tuple[str, int]:
    """Return place and number in a study; devices are moved and changed between studies."""
    entity = entities()[claim.entity]
    place, count = claim.place, claim.count or 1
    if steps and entity.device and entity.places and claim.entity != "sternal_wires":
        place = entity.places[int(rng.integers(len(entity.places)))]
    if steps and entity.counts and entity.device:
        count = entity.counts[int(rng.integers(len(entity.counts)))]
    return place, count
