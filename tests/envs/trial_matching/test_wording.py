"""Every wording of a criterion reads back as what was meant, and as nothing else.

The parser below knows the templates and the names of the vocabulary. It returns every reading a
text has, so that a template that could be taken for another, or a name for another's, is found.
"""

import re
from collections.abc import Iterator
from functools import cache, lru_cache

import pytest

from healthgym.core.seeding import Split
from healthgym.envs.trial_matching import criteria as c
from healthgym.envs.trial_matching.generator import TrialMatchingGenerator
from healthgym.envs.trial_matching.phrasing import sentence, wording
from healthgym.envs.trial_matching.render import render
from healthgym.envs.trial_matching.task import PRESETS
from healthgym.envs.trial_matching.vocabulary import vocabulary
from tests.sized import some

TERMS, FORMS = vocabulary(), wording()


def lookup(names):
    """Text in lower case -> keys; more than one where a name is shared."""
    found = {}
    for key, texts in names.items():
        for text in texts:
            found.setdefault(text.lower(), set()).add(key)
    return found


FINDINGS, DRUGS = lookup(TERMS.findings), lookup(TERMS.drug_classes)
MEASURES = lookup({key: measure.names for key, measure in TERMS.measures.items()})
WINDOWS = lookup({int(days): texts for days, texts in FORMS["windows"].items()})
OPS = lookup(FORMS["ops"])
ATTRIBUTES = {
    (condition.key, attribute.key): attribute
    for condition in TERMS.conditions.values()
    for attribute in condition.attributes
}


@cache
def pieces(template: str) -> tuple[str, ...]:
    """Literal, slot, literal, slot, ..., literal."""
    return tuple(
        part if number % 2 else part.lower()
        for number, part in enumerate(re.split(r"\{(\w+)\}", template))
    )


def fits(template: str, text: str) -> Iterator[dict[str, str]]:
    """Yield every way in which a text fills the slots of a template, in any case."""
    first, *rest = pieces(template)
    lowered = text.lower()
    if lowered.startswith(first) and lowered.endswith(rest[-1]):
        yield from slots_of(rest, text, lowered, len(first))


def slots_of(rest: list[str], text: str, lowered: str, begin: int) -> Iterator[dict[str, str]]:
    slot, literal, *more = rest
    if not more:
        end = len(text) - len(literal)
        if end > begin:
            yield {slot: text[begin:end]}
        return
    end = lowered.find(literal, begin + 1)
    while end >= 0:
        for others in slots_of(more, text, lowered, end + len(literal)):
            yield {slot: text[begin:end], **others}
        end = lowered.find(literal, end + 1)


def filled(form, text):
    for template in FORMS[form]:
        yield from fits(template, text)


def named(text):
    """Readings of the name of a finding: (concept, other_than)."""
    found = {(key, "") for key in FINDINGS.get(text.lower(), ())}
    for slots in filled("other_than", text):
        keys = FINDINGS.get(slots["x"].lower(), ()), FINDINGS.get(slots["o"].lower(), ())
        found |= {(key, other) for key in keys[0] for other in keys[1]}
    return found


def listed(text):
    """Every way in which `(a) one; (b) two` is a list of parts."""

    def parts(rest, letter):
        yield [rest]
        for mark in re.finditer(rf"; \({letter}\) ", rest):
            for more in parts(rest[mark.end() :], chr(ord(letter) + 1)):
                yield [rest[: mark.start()], *more]

    return parts(text[4:], "b") if text.startswith("(a) ") else []


@lru_cache(maxsize=4096)
def readings(text, about):
    """Every meaning of a phrase in a trial about a condition, as nested tuples."""
    found = set()
    for form, active in (("has_active", True), ("has_ever", False)):
        for slots in filled(form, text):
            found |= {("has", *name, active, None) for name in named(slots["x"])}
    for slots in filled("has_within", text):
        for days in WINDOWS.get(slots["w"].lower(), ()):
            found |= {("has", *name, False, days) for name in named(slots["x"])}
    for form, at_least in (("duration_at_least", True), ("duration_at_most", False)):
        for slots in filled(form, text):
            for days in WINDOWS.get(slots["w"].lower(), ()):
                keys = FINDINGS.get(slots["x"].lower(), ())
                found |= {("duration", key, days, at_least) for key in keys}
    for use in c.Use:
        for slots in filled(f"takes_{use}", text):
            days = WINDOWS.get(slots["w"].lower(), ()) if "w" in slots else (0,)
            keys = DRUGS.get(slots["x"].lower(), ())
            found |= {("takes", key, str(use), day) for key in keys for day in days}
    for slots in filled("allergic", text):
        found |= {("allergic", key) for key in DRUGS.get(slots["x"].lower(), ())}
    for slots in filled("sex", text):
        found |= {("sex", sex) for sex in ("female", "male") if slots["x"].lower() == sex}
    return found | values(text) | attributes(text, about) | composites(text, about)


def values(text):
    found = set()
    for slots in filled("value_within", text):
        for days in WINDOWS.get(slots["w"].lower(), ()):
            found |= {(*value[:-1], days) for value in values(slots["part"])}
    for slots in filled("value", text):
        symbol = slots.get("words") or slots["op"]
        keys, ops = MEASURES.get(slots["name"].lower(), ()), OPS.get(symbol.lower(), ())
        keys = {key for key in keys if is_amount(slots["v"], TERMS.measures[key])}
        found |= {("value", key, op, slots["v"], None) for key in keys for op in ops}
    return found


def is_amount(text, measure):
    """Whether a text is a number with one of a measure's units."""
    units = [measure.unit, measure.alternative.name if measure.alternative else measure.unit]
    tails = [re.escape(unit if unit in ("", "%") else f" {unit}") for unit in units]
    number = r"-?[\d,]+(\.\d+)?" + ("|[IV]+" if measure.key == "nyha" else "")
    return re.fullmatch(f"({number})({'|'.join(tails)})", text) is not None


def attributes(text, about):
    found = set()
    for (concept, key), attribute in ATTRIBUTES.items():
        names = lookup(attribute.values)
        for slots in filled("attribute", text):
            label = slots.get("label")
            if concept != about or (label and label.lower() != attribute.label.lower()):
                continue
            for chosen in alternatives(slots["values"], names):
                found.add(("attribute", concept, key, chosen))
    return found


def alternatives(text, names):
    """Every way in which `one, two or three` is a list of known names."""
    for name, keys in names.items():
        if text.lower() == name:
            yield from ((key,) for key in keys)
        for separator in (", ", " or "):
            if text.lower().startswith(name + separator):
                for rest in alternatives(text[len(name + separator) :], names):
                    yield from ((key, *rest) for key in keys)


def composites(text, about):
    found = set()
    for form in ("not_has", "not_takes", "not_other"):
        for slots in filled(form, text):
            found |= {negated(part) for part in readings(slots["x"], about)}
    for form in ("and", "unless"):
        for slots in filled(form, text):
            if "a" in slots and "; (b) " not in slots["a"]:  # what follows a list is its last part
                for one in readings(slots["a"], about):
                    for two in readings(slots["b"], about):
                        two = ("not", two) if form == "unless" else two
                        found.add(("at least", 2, one, two))
    for slots in filled("if_then", text):
        for one in readings(slots["a"], about):
            found |= {("if", one, two) for two in readings(slots["b"], about)}
    for slots in filled("by_sex", text):
        for women in values(slots["f"]):
            found |= {("by sex", women, men) for men in values(slots["m"])}
    for form in ("any", "all"):
        for slots in filled(form, text):
            for parts in listed(slots["list"]):
                count = slots.get("n", str(len(parts)))
                meanings = [readings(part, about) for part in parts]
                if not count.isdigit() or not all(meanings):
                    continue
                if all(len(meaning) == 1 for meaning in meanings):
                    found.add(("at least", int(count), *(next(iter(m)) for m in meanings)))
                else:
                    found.add(("ambiguous", text))
    return found


def negated(meaning):
    if meaning[0] != "attribute":
        return ("not", meaning)
    _, concept, key, values = meaning
    others = tuple(v for v in ATTRIBUTES[concept, key].values if v not in values)
    return ("attribute", concept, key, others)


def meant(item):
    """The meaning of a criterion, as the parser writes it; of a value, every way to show it."""
    match item:
        case c.Has():
            return ("has", item.concept, item.other_than, item.active, item.within)
        case c.Duration():
            return ("duration", item.concept, item.days, item.at_least)
        case c.AttributeIs():
            return ("attribute", item.concept, item.attribute, item.values)
        case c.Takes():
            return ("takes", item.drug_class, str(item.use), item.days)
        case c.Allergic():
            return ("allergic", item.drug_class)
        case c.SexIs():
            return ("sex", item.sex)
        case c.Value():
            return ("value", item.measure, item.op, shown(item), item.within)
        case c.BySex():
            return ("by sex", meant(item.female), meant(item.male))
        case c.Not():
            return ("not", meant(item.part))
        case c.IfThen():
            return ("if", meant(item.condition), meant(item.then))
        case c.AtLeast():
            return ("at least", item.count, *map(meant, item.parts))
    raise AssertionError(item)


def shown(item):
    measure = TERMS.measures[item.measure]
    options = [(item.threshold, measure.decimals, measure.unit)]
    if measure.alternative is not None:
        unit = measure.alternative
        options.append((unit.convert(item.threshold), unit.decimals, unit.name))
    texts = set()
    for value, decimals, unit in options:
        number = f"{value:,.{decimals}f}" if value >= 10_000 else f"{value:.{decimals}f}"
        texts.add(f"{number}{'' if unit in ('', '%') else ' '}{unit}")
    if item.measure == "nyha":
        texts.add({1: "I", 2: "II", 3: "III", 4: "IV"}[int(item.threshold)])
    return frozenset(texts)


def same(read, wanted):
    if isinstance(wanted, frozenset):
        return read in wanted
    if isinstance(wanted, tuple):
        return len(read) == len(wanted) and all(map(same, read, wanted))
    return read == wanted


@pytest.mark.parametrize("difficulty", list(PRESETS))
def test_every_criterion_reads_as_what_is_meant(difficulty):
    generator = TrialMatchingGenerator(PRESETS[difficulty])
    seen = 0
    for index in range(some(3, 2)):
        instance = generator.generate(Split.VALIDATION, index)
        pool = instance.start.corpus._load.__self__
        for id_ in list(instance.reference.grades)[:40]:
            trial = pool.trial(id_)
            text = render(trial, PRESETS[difficulty].style).criteria
            ages = [line for line in text.splitlines() if line.startswith("- Age ")]
            lines = [x[2:] for x in text.splitlines() if x.startswith("- ") and x not in ages]
            items = [*trial.inclusion[1:], *trial.exclusion]
            if not trial.exclusion:
                assert lines.pop() == "None beyond the above."
            assert len(lines) == len(items) + 1
            for line, item in zip(lines[1:], items, strict=True):
                assert line == sentence(line[:-1])
                found = readings(line[:-1], trial.condition)
                assert len(found) == 1, (line, item, found)
                assert same(next(iter(found)), meant(item)), (line, item, found)
                seen += 1
    assert seen > some(150, 100)
