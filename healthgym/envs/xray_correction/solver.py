"""A scripted policy that reads measurements, and nothing else, and corrects what they contradict.

It knows radiology's words (the reader and writer of claims) and the numbers in
``data/thresholds.json``; it sees no picture and no task. What it cannot measure it leaves as
drafted: nodules that are hard to count, broken ribs, and what devices hide.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping
from dataclasses import replace

from healthgym.core.tool import ToolCall, call
from healthgym.envs.xray_correction.claims import LEFT, RIGHT, ZONES, Claim, compare
from healthgym.envs.xray_correction.reading.reader import read
from healthgym.envs.xray_correction.thresholds import limit
from healthgym.envs.xray_correction.wording import Wording

_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
#: Which measurement settles an entity.
_MEASURED: Mapping[str, str] = {
    "heart": "heart",
    "effusion": "bases",
    "diaphragm": "bases",
    "pneumothorax": "pleura",
    "opacity": "lungs",
    "consolidation": "lungs",
    "atelectasis": "lungs",
    "edema": "lungs",
    "volumes": "lungs",
    "subcutaneous_air": "wall",
    "endotracheal_tube": "airway",
    "enteric_tube": "airway",
    "chest_tube": "tubes",
    "central_line": "lines",
    "picc": "lines",
    "pacemaker": "lines",
    "balloon_pump": "lines",
    "clips": "clips",
    "sternal_wires": "clips",
    "nodule": "nodules",
}
_COMPARED = {"heart": "heart", "effusion": "bases", "pneumothorax": "pleura"}
_FOCAL = ("opacity", "consolidation", "atelectasis")


def solve(instruction: str) -> Generator[ToolCall, str, None]:
    """Play an episode: read the draft, measure what it speaks of, edit, submit."""
    draft = _sentences((yield call("show_draft")))
    studies = len(re.findall(r"^study ", (yield call("list_studies")), re.MULTILINE))
    claims = {number: read(text) for number, text in draft.items()}
    wanted = {c.entity for group in claims.values() for c in group}
    measured: dict[str, str] = {}
    for what in dict.fromkeys(_MEASURED[name] for name in _MEASURED if name in wanted):
        measured[what] = _last((yield call("measure", what=what)))
    compared: dict[str, str] = {}
    changes = {c.entity for group in claims.values() for c in group if c.change}
    for what in dict.fromkeys(_COMPARED.get(name, "lungs") for name in sorted(changes)):
        compared[what] = _last((yield call("compare_prior", what=what)))
    wording = Wording(0, plain=True)
    for number, group in claims.items():
        seen = [_seen(claim, measured, compared, studies) for claim in group]
        if any(compare(now, said) for now, said in zip(seen, group, strict=True)):
            text = " ".join(wording.sentence([claim], number) for claim in seen)
            if len(seen) == 2:
                text = wording.sentence(seen, number)
            yield call("edit_sentence", number=number, text=text)
    yield call("submit")


def _last(observation: str) -> str:
    """Return an observation without the line of the clock, and without what limits there are."""
    text = observation.split("\n", 1)[-1] if observation.startswith("[") else observation
    return text.split("\nlimits:", 1)[0]


def _sentences(observation: str) -> dict[int, str]:
    lines = re.findall(r"^(\d+)\. (.+)$", observation, re.MULTILINE)
    return {int(number): text for number, text in lines}


def _numbers(text: str) -> list[float]:
    return [float(value) for value in _NUMBER.findall(text)]


def _seen(
    claim: Claim, measured: Mapping[str, str], compared: Mapping[str, str], studies: int
) -> Claim:
    """Return what the measurements say of a claim; the claim itself where they say nothing."""
    if claim.entity == "comparison":
        return replace(claim, present=studies > 1)
    judge = _JUDGES.get(claim.entity)
    if judge is None:
        return claim
    values = _numbers(measured[_MEASURED[claim.entity]])
    if claim.entity == "heart":
        found = _heart(claim, values, _left_overlaid(measured))
    elif claim.entity in _FOCAL:
        found = _focal(claim, values, hidden="bases" in measured, pleura=measured.get("pleura", ""))
    else:
        found = judge(claim, values)
    if found.present and claim.change:
        change = _change(found, compared[_COMPARED.get(claim.entity, "lungs")])
        found = replace(found, change=change or claim.change)
    return found


# -- one judge an entity ----------------------------------------------------------------------


def _heart(claim: Claim, values: list[float], blurred: bool = False) -> Claim:
    """Judge the heart by its left border, or by its right one where the left is overlaid."""
    _, right, left = values
    side, reach = ("right", right) if blurred else ("left", left)
    grade = sum(reach >= limit(f"heart.{side}.{severity}") for severity in ("mild", "severe"))
    if grade == 0 and not claim.change:
        return replace(claim, present=False, severity="")
    return replace(claim, present=True, severity="severe" if grade == 2 else "mild")


def _left_overlaid(measured: Mapping[str, str]) -> bool:
    """Return whether air or much fluid in the left pleural space hides the heart's border."""
    bases, pleura = _numbers(measured.get("bases", "")), _numbers(measured.get("pleura", ""))
    fluid = len(bases) > 1 and bases[1] < limit("heart.hidden.depth")
    return fluid or (len(pleura) > 3 and pleura[3] >= limit("pneumothorax.line"))


def _sided(
    claim: Claim, right: float, left: float, least: float, much: float | None = None
) -> Claim:
    """Return a claim with the side on which a number is higher, absent below ``least``."""
    side, value = (RIGHT, right) if right > left else (LEFT, left)
    if value < least and not claim.change:
        return Claim(claim.entity, present=False)
    found = replace(claim, present=True, side=side)
    if much is None:
        return found
    return replace(found, severity="severe" if value >= much else "mild")


def _effusion(claim: Claim, values: list[float]) -> Claim:
    right, left, *_ = values
    # Fluid makes a side shallow.
    lost_right = limit("effusion.usual.right") - right
    lost_left = limit("effusion.usual.left") - left
    return _sided(claim, lost_right, lost_left, limit("effusion.mild"), limit("effusion.severe"))


def _pneumothorax(claim: Claim, values: list[float]) -> Claim:
    (right, clear_right, left, clear_left) = values[:4]
    side, away, clear = (
        (RIGHT, right, clear_right) if clear_right > clear_left else (LEFT, left, clear_left)
    )
    if clear < limit("pneumothorax.line") and not claim.change:
        return Claim(claim.entity, present=False)
    severity = "severe" if away >= limit("pneumothorax.severe") else "mild"
    return replace(claim, present=True, side=side, severity=severity)


def _focal(claim: Claim, values: list[float], hidden: bool = False, pleura: str = "") -> Claim:
    pairs = {zone: values[2 * n : 2 * n + 2] for n, zone in enumerate(ZONES)}
    usual = {zone: limit(f"focal.usual.{zone}") for zone in ZONES}
    # Air in a pleural space is black above, and makes the lung that fell together denser.
    tilt = _collapse(_numbers(pleura))
    usual["upper"] += tilt
    usual["mid"] -= tilt
    apart = {zone: left - right - usual[zone] for zone, (right, left) in pairs.items()}
    dense = limit("focal.dense")
    # Fluid at the base hides the lower zone.
    score = {
        zone: abs(apart[zone]) / limit(f"focal.least.{zone}") if max(pairs[zone]) >= dense else 0.0
        for zone in (ZONES[:2] if hidden else ZONES)
    }
    zone = max(score, key=lambda name: score[name])
    if score[zone] < 1 and not claim.change:
        return Claim(claim.entity, present=False)
    severity = "severe" if abs(apart[zone]) >= limit(f"{claim.entity}.severe") else "mild"
    side = LEFT if apart[zone] > 0 else RIGHT
    return replace(claim, present=True, side=side, place=zone, severity=severity)


def _collapse(values: list[float]) -> float:
    """Return by how much a pneumothorax tilts densities to the left; negative to the right."""
    if len(values) < 4:
        return 0.0
    (right, clear_right, left, clear_left) = values[:4]
    away, clear, sign = (
        (right, clear_right, 1.0) if clear_right > clear_left else (left, clear_left, -1.0)
    )
    if clear < limit("pneumothorax.line"):
        return 0.0
    severity = "severe" if away >= limit("pneumothorax.severe") else "mild"
    return sign * limit(f"pneumothorax.tilt.{severity}")


def _edema(claim: Claim, values: list[float]) -> Claim:
    hilar = values[6]
    if hilar < limit("edema.mild") and not claim.change:
        return Claim(claim.entity, present=False)
    return replace(
        claim, present=True, severity="severe" if hilar >= limit("edema.severe") else "mild"
    )


def _volumes(claim: Claim, values: list[float]) -> Claim:
    tall = values[7]
    low = limit("volumes.low")
    if low <= tall <= limit("volumes.high"):
        return Claim("volumes", present=False)
    return Claim("volumes", place="low" if tall < low else "high")


def _diaphragm(claim: Claim, values: list[float]) -> Claim:
    right, left, *_ = values
    usual = limit("diaphragm.usual")
    return _sided(claim, left - right - usual, right - left + usual, limit("diaphragm.raised"))


def _wall(claim: Claim, values: list[float]) -> Claim:
    return _sided(claim, values[0], values[1], limit("wall.gas"))


def _endotracheal(claim: Claim, values: list[float]) -> Claim:
    _, middle, lower, *_ = values
    if lower > limit("endotracheal_tube.low.carina") and middle > limit(
        "endotracheal_tube.low.middle"
    ):
        return replace(claim, place="low")
    far = middle > limit("endotracheal_tube.middle")
    return replace(claim, place="appropriate" if far else "high")


def _enteric(claim: Claim, values: list[float]) -> Claim:
    reaches = values[4] >= limit("enteric_tube.stomach")
    return replace(claim, place="stomach" if reaches else "esophagus")


def _chest_tube(claim: Claim, values: list[float]) -> Claim:
    right, left = values[:2]
    if right == left:
        return claim
    most = limit("chest_tube.most")
    if min(right, left) > 0 and max(right, left) > most:
        right, left = (0.0, left) if right > most else (right, 0.0)
    count = int(min(max(right, left), most))
    return replace(claim, side=RIGHT if right > left else LEFT, count=count)


def _line(claim: Claim, values: list[float]) -> Claim:
    right, left = values[:2] if claim.entity == "central_line" else values[2:4]
    end = values[4]
    places = ("upper_svc", "lower_svc", "right_atrium")
    place = places[sum(end >= limit(f"line.{name}.from") for name in places[1:])]
    return replace(claim, side=RIGHT if right > left else LEFT, place=place)


def _pacemaker(claim: Claim, values: list[float]) -> Claim:
    right, left, second = values[5:8]
    leads = 2 if second > limit("pacemaker.second_lead") else 1
    return replace(claim, side=RIGHT if right > left else LEFT, count=leads)


def _pump(claim: Claim, values: list[float]) -> Claim:
    return replace(claim, place="arch" if values[8] > values[9] else "low")


def _clips(claim: Claim, values: list[float]) -> Claim:
    return replace(claim, side=RIGHT if values[0] > values[1] else LEFT)


def _wires(claim: Claim, values: list[float]) -> Claim:
    return replace(claim, place="disrupted" if values[3] > values[2] else "intact")


_JUDGES: Mapping[str, Callable[[Claim, list[float]], Claim]] = {
    "heart": _heart,
    "effusion": _effusion,
    "pneumothorax": _pneumothorax,
    "opacity": _focal,
    "consolidation": _focal,
    "atelectasis": _focal,
    "edema": _edema,
    "volumes": _volumes,
    "diaphragm": _diaphragm,
    "subcutaneous_air": _wall,
    "endotracheal_tube": _endotracheal,
    "enteric_tube": _enteric,
    "chest_tube": _chest_tube,
    "central_line": _line,
    "picc": _line,
    "pacemaker": _pacemaker,
    "balloon_pump": _pump,
    "clips": _clips,
    "sternal_wires": _wires,
}


def _change(claim: Claim, text: str) -> str:
    """Return how a finding has changed, from the last line of a comparison."""
    values = _numbers(text.splitlines()[-1])
    side = 0 if claim.side == RIGHT else 1
    if claim.entity == "heart":
        return _direction(values[0], limit("heart.change"))
    if claim.entity == "effusion":
        return _direction(-values[side], limit("effusion.change"))
    if claim.entity == "pneumothorax":
        return _direction(values[side], limit("pneumothorax.change"))
    if claim.entity == "edema":
        return _direction(values[6], limit("edema.change"))
    if claim.entity in _FOCAL:
        place = len(ZONES) * side + ZONES.index(claim.place)
        return _direction(values[place], limit("focal.change"))
    return ""


def _direction(difference: float, least: float) -> str:
    if abs(difference) < least:
        return "unchanged"
    return "worsened" if difference > 0 else "improved"
