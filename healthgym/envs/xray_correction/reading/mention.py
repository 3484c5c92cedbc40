"""What is said of one entity while a sentence is read, and the claim that comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from healthgym.envs.xray_correction.claims import Claim, entities
from healthgym.envs.xray_correction.reading.words import Features, Item

#: Kinds of features that say how something is.
ATTRIBUTES = ("side", "zone", "severity", "count", "change", "place", "state", "vessel")
_LINES = frozenset({"central_line", "picc"})
_STATES = {
    "heart": {"normal", "abnormal", "enlarged"},
    "volumes": {"normal"},
    "diaphragm": {"normal", "elevated"},
    "opacity": {"clear"},
}
#: Devices of which no position is graded.
_ANYWHERE = {"chest_tube", "pacemaker"}
#: Where another device ends that is "in good position".
_PROPER = {"stomach", "arch", "upper_svc", "lower_svc", "intact"}
_SIDES = {"left", "right"}
_MISPLACED = {"low", "high", "esophagus", "right_atrium"}
#: What a state is that is denied, where only one other is left.
_FLIPPED = {
    "normal": "abnormal",
    "abnormal": "normal",
    "enlarged": "normal",
    "elevated": "normal",
    "clear": "abnormal",
    "intact": "disrupted",
    "disrupted": "intact",
}
#: Where in the chest a finding without zones gathers.
_USUAL = {"effusion": "lower", "pneumothorax": "upper"}
#: Entities that lie in the lungs, or that are said of them.
_PULMONARY = frozenset(
    {
        "opacity",
        "consolidation",
        "atelectasis",
        "edema",
        "nodule",
        "volumes",
        "effusion",
        "pneumothorax",
    }
)
_BONE = frozenset({"fracture"})
#: Entities that are there whatever is said of them.
_ALWAYS = frozenset({"heart", "volumes", "diaphragm"})
#: States that are findings.
_RAISED = frozenset({"enlarged", "elevated"})
#: Entities that concern both lungs anyway.
_WHOLE = frozenset({"volumes", "edema"})


@dataclass(slots=True)
class Mention:
    """An entity as a sentence speaks of it.

    Attributes:
        entity: Its name.
        values: What is said of it, by kind.
        denied: What is said not to be so; the values of one go together.
        present: Whether it is said to be there; None while nothing is said.
        restricted: Whether a denial is of this side, place or size only ("no left effusion"), and
            not of the one that was there ("the left effusion has resolved").
        later: Kinds of what was said after the name.
        certain: Whether it is said without reserve.
        kinds: Words that narrow it ("linear", "overt").
        flags: Kinds of words that hold only if others are said ("interval", "either", "leads").
        ends: Where it ends if it passes what it is said to pass.
        unread: Words that could not be taken in.
    """

    entity: str
    values: dict[str, str] = field(default_factory=dict)
    denied: list[dict[str, str]] = field(default_factory=list)
    present: bool | None = None
    restricted: bool = True
    later: set[str] = field(default_factory=set)
    certain: bool = True
    kinds: set[str] = field(default_factory=set)
    flags: dict[str, str] = field(default_factory=dict)
    ends: set[str] = field(default_factory=set)
    unread: list[str] = field(default_factory=list)

    def take(self, item: Item, into: dict[str, str] | None = None, later: bool = False) -> None:
        """Take in what an item says of the entity; note it as unread if it cannot be said of it.

        Args:
            item: The item.
            into: Where to; the values that hold by default, else those of a denial.
            later: Whether it stands after the name.
        """
        values = self.values if into is None else into
        said = self._applicable(item)
        if said == {} and into is not None and item.says("vessel"):
            said = {"place": "svc"}
        if said is None:
            self.unread.append(item.text)
            return
        if later:
            self.later.update(said)
        for kind, value in said.items():
            if values.setdefault(kind, value) != value:
                self.unread.append(item.text)

    def _applicable(self, item: Item) -> dict[str, str] | None:
        """Return what an item says of this entity; None if it says nothing that fits."""
        entity, features = entities()[self.entity], item.features
        usual = "lobe" in features and _USUAL.get(self.entity) == features.get("zone")
        if "sign" in features or usual:
            if not usual and self.entity not in features["sign"].split("|"):
                return None
            # What a finding looks like is said beside it, where it is there.
            self.flags["sign"] = item.text
            had = {"side": entity.sides, "place": features.get("place") in entity.places}
            return {k: features[k] for k, holds in had.items() if holds and k in features}
        if features.keys() & {"near", "path", "beyond"} and "state" not in features:
            if self.entity not in features.get("for", self.entity).split("|"):
                return None
            self.flags.update({k: item.text for k in ("near", "path") if k in features})
            self.flags.update({k: features[k] for k in ("beyond",) if k in features})
            self.ends |= {features[k] for k in ("near", "path") if k in features}
            return {}
        meant = features.get("loc", "").split("|")
        if self.entity in meant or features.keys() == {"kind"}:
            self.kinds.update([features["kind"]] if "kind" in features else ())
            self.flags.update({k: item.text for k in ("located", "above") if k in features})
            return {}
        if entity.device and features.get("place") == "appropriate" not in entity.places:
            self.flags["proper"] = item.text
            return {}
        if self.entity == "enteric_tube" and item.text in ("high", "too high"):
            self.flags["misplaced"] = item.text
            return {}
        if "infl" in features and self.entity != "volumes":
            return None
        if "lungs" in features or "rib" in features:
            return {} if self.entity in (_PULMONARY if "lungs" in features else _BONE) else None
        said: dict[str, str] = {}
        for read in (self._moved, self._along, self._measured):
            part = read(item)
            if part is None:
                return None
            said |= part
        if "state" in features and "place" not in said:
            if features["state"] not in _STATES.get(self.entity, ()):
                if features["state"] != "enlarged" or not entity.change or "severity" in features:
                    return None
                # What has no size that is normal has grown.
                return {"change": "worsened"}
            kind = "place" if self.entity == "volumes" else "state"
            said[kind] = features["state"]
            if "beyond" in features:
                self.flags["beyond"] = features["beyond"]
        return said if said or item.says("vessel", "lead", "side") else None

    def _moved(self, item: Item) -> dict[str, str] | None:
        """Return the change or the place that is said; None if it is not one of this entity."""
        features = item.features
        if "change" in features and entities()[self.entity].change:
            return {"change": features["change"]}
        if self._fits(features):
            return {"place": features["place"]}
        if {"change", "place"} & features.keys() and "state" not in features:
            return None
        return {}

    def _along(self, item: Item) -> dict[str, str] | None:
        """Return where in the lung, or of a line along which vessel; None if it has no such."""
        features = item.features
        if self.entity not in _LINES or not {"zone", "vessel"} & features.keys():
            if "vessel" in features or "adj" in features:
                return None
            if "zone" not in features:
                return {}
            return {"zone": features["zone"]} if entities()[self.entity].zones else None
        if "lobe" in features:
            return None
        if "vessel" in features:
            self.flags["vessel"] = item.text
        return {"place": f"{features['zone']}_svc"} if "zone" in features else {}

    def _measured(self, item: Item) -> dict[str, str] | None:
        """Return side, severity and number; None if the entity has no such."""
        entity, features = entities()[self.entity], item.features
        had = {"side": entity.sides, "severity": entity.severities, "count": entity.counts}
        said: dict[str, str] = {}
        for kind in had.keys() & features.keys():
            if had[kind]:
                said[kind] = features[kind]
            elif (kind, features[kind]) != ("side", "bilateral") or self.entity not in _WHOLE:
                return None
        if "lead" in features:
            if self.entity != "pacemaker":
                return None
            self.flags["lead"] = item.text
        return said

    def _fits(self, features: Features) -> bool:
        """Return whether a place, or what is also said of volumes, can be that of the entity."""
        if "change" in features and self.entity != "volumes":
            return False
        meant = features.get("for", self.entity)
        return meant == self.entity and features.get("place") in entities()[self.entity].places

    # -- what comes of it --------------------------------------------------------------------

    def claim(self) -> Claim:
        """Return the claim; what does not go together is left among the unread words."""
        self._settle_denials()
        present = self._presence()
        values = dict(self.values)
        if self.entity == "heart" and present is not True and "severity" in values:
            self.unread.append(values["severity"])
        self._check_flags(present)
        whole = "side" in self.later or "state" in values
        if present is False and values.get("side") == "bilateral" and whole:
            # "Clear bilaterally"; but "no bilateral effusions" leaves one.
            del values["side"]
        if present is False and not self.restricted and "lost" in self.flags:
            # "The left effusion has resolved": which one is said, not of what part it holds.
            values = {k: v for k, v in values.items() if k == "change" or k in self.later}
        change = self._change(values.get("change", ""), present)
        place = values.get("place", values.get("zone", ""))
        if self.entity in _LINES and not place and "vessel" in self.flags:
            place = "svc"
        if self.entity == "volumes" and place in ("normal",):
            place = ""
        severity = values.get("severity", "")
        if severity == "significant":
            severity = "severe"
        count = int(values.get("count", 0))
        if not count and "one" in self.flags and present is True:
            count = 1
        if present is None and not change:
            # Named, and nothing said of it.
            self.unread.append(self.entity)
        return Claim(
            self.entity,
            present,
            values.get("side", ""),
            place,
            severity,
            count,
            change,
            certain=self.certain,
            kind=" ".join(sorted(self.kinds)) if present is False else "",
        )

    def _change(self, change: str, present: bool | None) -> str:
        """Return the comparison that is made; what is gone, or still away, is compared as well."""
        if present is False and {"history", "now"} & self.flags.keys():
            return "resolved"
        comparable = present is False or entities()[self.entity].change
        return "unchanged" if not change and "soft" in self.flags and comparable else change

    def _settle_denials(self) -> None:
        """Weigh what is denied against what holds; alone, a denial leaves what it denies open."""
        for denial in self.denied:
            if not denial or self._denies_part(denial):
                self.unread.append("not")
                continue
            missing = [kind for kind in denial if kind not in self.values]
            if len(missing) < len(denial):
                if all(self.values.get(k, v) == v for k, v in denial.items()):
                    self.unread += denial.values()
                # "Mildly rather than severely enlarged": what both share is said.
                self.values.update({kind: denial[kind] for kind in missing})
            elif len(missing) == 1:
                (kind,) = missing
                value = denial[kind]
                flips = kind == "state" or self.entity == "sternal_wires"
                if kind == "count":
                    self.unread.append(value)
                else:
                    self.values[kind] = _FLIPPED[value] if flips else f"not:{value}"
            elif denial:
                self.unread += denial.values()

    def _denies_part(self, denial: Mapping[str, str]) -> bool:
        """Return whether what is denied is part of what holds ("the lower, not the SVC")."""
        return denial.get("place") == "svc" and self.values.get("place", "").endswith("_svc")

    def _presence(self) -> bool | None:
        state, negative = self.values.get("state", ""), self.present is False
        if "bare" in self.flags and "located" not in self.flags:
            return None
        if self.entity == "opacity" and state:
            clear = state == "clear"
            if negative:
                self.unread.append(state)
            return not clear
        if self.entity in ("heart", "diaphragm"):
            if not state:
                if negative:
                    self.unread.append("no")
                return None
            if negative and state in ("normal", "abnormal"):
                self.unread.append(state)
            return state != "normal" and not negative
        if self.entity == "volumes":
            place = self.values.get("place", "")
            if negative and place:
                self.values["place"] = f"not:{place}"
            return None if not place else place != "normal"
        return self.present is not False

    def _check_flags(self, present: bool | None) -> None:
        """Leave unread what was said on a condition that does not hold."""
        change = "change" in self.values
        gone, sided = "gone" in self.flags, entities()[self.entity].sides
        holds = {
            "any": present is False,
            # "An effusion or a pneumothorax": which of them?
            "or": present is False,
            "interval": change or gone,
            # "The previously small effusion has increased": how large it is now is not said.
            "previously": (change or "lost" in self.flags)
            and not {"severity", "count"} & (self.values.keys() - self.later),
            # "The effusion was small": then, or now?
            "past": False,
            "been": change or gone,
            "history": present is False,
            "above": self.values.get("place") != "low",
            "beside": False,
            "many": present is False or (sided and self.values.get("side") not in _SIDES),
            "gone": self.entity not in _ALWAYS,
            "absent": self.entity not in _ALWAYS,
            # "Cardiomegaly is not present", but the heart is.
            "lost": self.entity not in _ALWAYS or self.values.get("state") in _RAISED,
            "prior": change or "soft" in self.flags,
            "lead": "count" in self.values,
            # "An apparent effusion" may be none; "no apparent effusion" is none.
            "seeming": present is False,
            # A line that crosses the atrium ends elsewhere.
            "across": not entities()[self.entity].device,
            # More on one side says more than "both" where nobody asks for a side.
            "uneven": sided and present is True,
            "misplaced": self.values.get("place") in _MISPLACED,
            # "In good position, with its tip in the stomach."
            "proper": self.values.get("place") in _PROPER or self.entity in _ANYWHERE,
            # Where it passes, or is close to, says where it ends only if that is said.
            "near": self.ends == {self.values.get("place")},
            "path": self.ends == {self.values.get("place")},
            "residual": self.values.get("change") == "improved",
            "sign": present is True,
            "bare": "located" in self.flags,
            # Something near, and not that: a diagnosis, a border, a range.
            "loose": False,
            "beyond": {self.values.get("side"), self.flags.get("beyond")} == _SIDES,
        }
        self.unread += [word for kind, word in self.flags.items() if not holds.get(kind, True)]
        if self.entity == "pacemaker" and "count" in self.values and "lead" not in self.flags:
            self.unread.append("count")
        if self.entity in _LINES and "vessel" not in self.flags:
            place = self.values.get("place", "")
            if place.endswith("_svc"):
                self.unread.append(place)
        if self.values.get("severity") == "significant" and present is not False:
            self.unread.append("significant")
