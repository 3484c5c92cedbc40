"""How criteria are put into words, from one fixed form to varied clinical language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from healthgym.core.borders import JsonObject
from healthgym.envs.trial_matching.criteria import (
    Age,
    Allergic,
    AtLeast,
    AttributeIs,
    BySex,
    Criterion,
    Duration,
    Has,
    IfThen,
    Not,
    SexIs,
    Takes,
    Use,
    Value,
)
from healthgym.envs.trial_matching.dice import Dice
from healthgym.envs.trial_matching.vocabulary import Measure, Vocabulary, read_data, vocabulary

_LETTERS = "abcdefgh"
_ROMAN = {1: "I", 2: "II", 3: "III", 4: "IV"}


@lru_cache(maxsize=1)
def wording() -> JsonObject:
    """Return the templates; read once, never changed."""
    data: JsonObject = read_data("wording.json")
    return data


@dataclass(frozen=True, slots=True)
class Style:
    """How freely something is worded.

    Attributes:
        varied: Whether wordings, synonyms and orders are drawn; else the first of each is used.
        abbreviate: How often an abbreviation stands for a name.
        convert: How often a value is given in its other unit.
        dense: Whether facts must be inferred: dates for ages, regimens for their number.
    """

    varied: bool = False
    abbreviate: float = 0.0
    convert: float = 0.0
    dense: bool = False


class Words:
    """Draws words in a style.

    Args:
        dice: Randomness.
        style: How freely.
    """

    def __init__(self, dice: Dice, style: Style) -> None:
        self.dice = dice
        self.style = style
        self._terms: Vocabulary = vocabulary()
        self._forms = wording()

    def form(self, name: str) -> str:
        """Return a template."""
        return self.choose(self._forms[name])

    def choose(self, options: Sequence[str]) -> str:
        """Return one of some wordings: the first in the plain style."""
        return self.dice.pick(options) if self.style.varied else options[0]

    def name(self, names: Sequence[str]) -> str:
        """Return one of the names of a thing."""
        if not self.style.varied:
            return names[0]
        if self.dice.chance(self.style.abbreviate):
            return names[-1]
        return names[0] if self.dice.chance(0.55) else self.dice.pick(names)

    def finding(self, concept: str) -> str:
        """Return a name of a finding."""
        return self.name(self._terms.findings[concept])

    def drug_class(self, key: str) -> str:
        """Return a name of a drug class."""
        return self.name(self._terms.drug_classes[key])

    def window(self, days: int) -> str:
        """Return a wording of a time window."""
        return self.choose(self._forms["windows"][str(days)])

    def amount(self, measure: Measure, value: float, *, convert: bool) -> str:
        """Return a value with its unit, the other one if ``convert``."""
        if measure.key == "nyha" and self.style.varied:
            return _ROMAN[int(value)]
        unit, decimals = measure.unit, measure.decimals
        if convert and measure.alternative is not None:
            value = measure.alternative.convert(value)
            unit, decimals = measure.alternative.name, measure.alternative.decimals
        text = f"{value:,.{decimals}f}" if value >= 10_000 else f"{value:.{decimals}f}"
        return f"{text}{'' if unit in ('', '%') else ' '}{unit}"

    # -- criteria ----------------------------------------------------------------------------

    def criterion(self, item: Criterion) -> str:
        """Return a criterion as a phrase, without capital or full stop."""
        match item:
            case Has():
                return self._has(item)
            case Duration():
                form = self.form("duration_at_least" if item.at_least else "duration_at_most")
                return form.format(x=self.finding(item.concept), w=self.window(item.days))
            case AttributeIs():
                return self._attribute(item)
            case Value():
                return self._value(item)
            case BySex():
                form = self.form("by_sex")
                return form.format(f=self._value(item.female), m=self._value(item.male))
            case Takes():
                window = self.window(item.days) if item.days else ""
                form = self.form(f"takes_{item.use}")
                return form.format(x=self.drug_class(item.drug_class), w=window)
            case Allergic():
                return self.form("allergic").format(x=self.drug_class(item.drug_class))
            case SexIs():
                return self.form("sex").format(x=item.sex)
            case Age():
                return self.age(item)
            case Not():
                return self._not(item)
            case AtLeast():
                return self._list(item)
            case IfThen():
                then = self.criterion(item.then)
                return self.form("if_then").format(a=self.criterion(item.condition), b=then)
            case _:
                raise TypeError(f"there is no wording for {item!r}")

    def condition(self, item: Has) -> str:
        """Return the criterion that names the condition a trial is about."""
        form = "condition" if item.active else "condition_event"
        return self.form(form).format(x=self.finding(item.concept))

    def age(self, item: Age) -> str:
        """Return the limits of age as a phrase."""
        match item.low, item.high:
            case int(), int():
                return f"age {item.low} to {item.high} years, both included"
            case int(), None:
                return f"age {item.low} years or older"
            case None, int():
                return f"age {item.high} years or younger"
            case _:
                return "any age"

    def _has(self, item: Has) -> str:
        name = self.finding(item.concept)
        if item.other_than:
            name = self.form("other_than").format(x=name, o=self.finding(item.other_than))
        if item.active:
            return self.form("has_active").format(x=name)
        if item.within is None:
            return self.form("has_ever").format(x=name)
        return self.form("has_within").format(x=name, w=self.window(item.within))

    def _attribute(self, item: AttributeIs) -> str:
        condition = self._terms.conditions[item.concept]
        attribute = next(a for a in condition.attributes if a.key == item.attribute)
        values = [self.choose(attribute.values[value]) for value in item.values]
        return self.form("attribute").format(label=attribute.label, values=_either(values))

    def _value(self, item: Value) -> str:
        measure = self._terms.measures[item.measure]
        convert = self.style.varied and self.dice.chance(self.style.convert)
        words = self.choose(self._forms["ops"][item.op])
        part = self.form("value").format(
            name=self.name(measure.names),
            op=item.op,
            words=words,
            v=self.amount(measure, item.threshold, convert=convert),
        )
        if item.within is None:
            return part
        return self.form("value_within").format(part=part, w=self.window(item.within))

    def _not(self, item: Not) -> str:
        form = "not_has" if isinstance(item.part, Has) else "not_other"
        if isinstance(item.part, Takes) and item.part.use in (Use.CURRENT, Use.STABLE):
            form = "not_takes"
        return self.form(form).format(x=self.criterion(item.part))

    def _list(self, item: AtLeast) -> str:
        parts = [self.criterion(part) for part in item.parts]
        text = "; ".join(f"({letter}) {p}" for letter, p in zip(_LETTERS, parts, strict=False))
        if item.count < len(parts):
            return self.form("any").format(n=item.count, list=text)
        if len(parts) != 2:
            return self.form("all").format(list=text)
        second = item.parts[1]
        if isinstance(second, Not) and isinstance(item.parts[0], Has) and self.style.varied:
            return self.form("unless").format(a=parts[0], b=self.criterion(second.part), list=text)
        return self.form("and").format(a=parts[0], b=parts[1], list=text)


def _either(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def sentence(text: str) -> str:
    """Return a phrase with a capital and a full stop."""
    return f"{text[:1].upper()}{text[1:]}."
