"""What a person understands of what is said to them: the acts of an utterance, by a grammar.

The grammar is data (``ears/data``). What is asked about a subject, a symptom or a medicine is put
together here; every other act is found by its own patterns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from healthgym.worlds.managed_care.conversation.acts import SENSITIVE, Act, Heard, Meant, Said
from healthgym.worlds.managed_care.conversation.ears.grammar import (
    Grammar,
    Role,
    Rule,
    Scope,
    grammar,
)
from healthgym.worlds.managed_care.conversation.ears.medicines import medicines_of
from healthgym.worlds.managed_care.conversation.ears.reading import Reading, after, read
from healthgym.worlds.managed_care.voices import Part, Topic

#: Subjects which a question about a symptom is about besides, without being asked about.
_OF_SYMPTOMS = (Topic.MOOD, Topic.PHQ9, Topic.GAD7, Topic.SAFETY, None)
_INSTRUMENTS = frozenset({Topic.PHQ9, Topic.GAD7})
#: Acts besides which a clause does little else.
_GRAVE = frozenset({Act.PRESSURE, Act.PROMISE, Act.INVOLVE_OTHERS})
#: What is done all the same in a clause with a grave act.
_STANDING = frozenset({Act.GREET, Act.INTRODUCE, Act.CLOSE, Act.RESPOND_SAFETY})
#: Words within which a fact follows "your" or "you have".
_CLOSE = 6
#: Words of a question that wants a yes, whatever it says of how somebody feels.
_TO_JOIN = frozenset(
    {"agree", "agreeing", "consent", "decline", "declining", "enroll", "enrolling", "hang"}
    | {"join", "joining", "participate", "refuse", "refusing", "sign", "signing"}
)
_YOU = frozenset({"you"})
_SINCE = frozenset({"since", "because"})
_AND, _HAVE = frozenset({"and"}), frozenset({"have", "let"})
_TURNED = frozenset({"you", "they", "there", "anyone", "someone"})
_WILL = frozenset({"would", "will", "are", "may", "might", "could", "can"})
#: Words of a clause in which the caller speaks of themselves.
_SPEAKER = frozenset({"i", "we"})
#: Words that point back to what was named before.
_POINTERS = frozenset({"them", "these", "those"})
_EACH = _POINTERS | {"each"}
_OTHER = frozenset({"other"})
_POINTED = frozenset({"it", "that", "this"})
#: Words that open a list of what was announced.
_LIST = frozenset({"about", "namely"})
#: Words that go on a list.
_GOING_ON = frozenset({"and", "or", "then", "after", "if", "your", "about", "how"})
_THAT, _IS = frozenset({"that"}), frozenset({"is"})
_TO_POINT = frozenset({"about", "through", "into", "over", "discuss", "if", "is"})
_Drugs = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class _Found:
    """An act and the last words of where it was found."""

    ends: int
    said: Said


def understand(
    message: str, meant: tuple[Meant, ...] = (), medicines: tuple[str, ...] = ()
) -> Heard:
    """Return the acts that an utterance holds.

    What is only mentioned, negated, quoted, imagined or put in writing about the call is not done.
    What a caller says to have meant counts where a sentence is left that says nothing sure by
    itself; it never counts for a sensitive act, and takes nothing back.

    Args:
        message: What is said; any text.
        meant: What the caller says to have meant by it.
        medicines: Names of the medicines of who listens.
    """
    known = grammar()
    reading = read(message, known)
    found = sorted(_found(reading, known, medicines), key=lambda each: each.ends & -each.ends)
    acts = _once(each.said for each in found)
    return Heard((*acts, *_helped(acts, meant, reading, found)) if meant else acts)


def _once(said: Iterable[Said]) -> tuple[Said, ...]:
    """Return acts, each once, a sure one in place of its unsure double."""
    best: dict[tuple[Act, Topic | None, str, Part | None], Said] = {}
    for each in said:
        key = (each.act, each.topic, each.item, each.part)
        if key not in best or (each.sure and not best[key].sure):
            best[key] = each
    return tuple(best.values())


def _helped(
    acts: tuple[Said, ...], meant: tuple[Meant, ...], reading: Reading, found: list[_Found]
) -> Iterator[Said]:
    """Return what the caller says to have meant by sentences that say nothing sure."""
    clear = 0
    for each in found:
        clear |= each.ends if each.said.sure else 0
    dark = sum(not span & clear for span in reading.clauses.sentences)
    have = {(said.act, said.topic, said.item) for said in acts if said.sure}
    for claim in meant:
        key = (claim.act, claim.topic, claim.item)
        if dark and claim.act not in SENSITIVE and key not in have:
            dark -= 1
            have.add(key)
            yield Said(*key)


def _found(reading: Reading, known: Grammar, medicines: tuple[str, ...]) -> Iterator[_Found]:
    """Return all acts, and where they were found."""
    drugs = tuple(medicines_of(reading, known, medicines))
    done = tuple(_done(reading))
    acts = {rule.act for rule, _ in done}
    claimed = permitted = grave = 0
    told_back = 0
    for rule, held in done:
        if rule.act in _GRAVE:
            grave |= reading.clauses.filled(held)
        elif rule.act is Act.SUMMARIZE:
            told_back |= reading.clauses.sentence(held)
        elif rule.act is Act.NEXT_STEPS:
            claimed |= _planned(reading, held)
    for rule, held in done:
        if rule.act is None or rule.yields & acts:
            continue
        if rule.act not in SENSITIVE and rule.act not in _STANDING:
            held &= ~grave
        clauses = reading.clauses.filled(held)
        if rule.act is Act.ASK_PERMISSION and rule.topic is None:
            permitted |= clauses | reading.tagged & reading.clauses.sentence(held)
            permitted |= _listed(reading, clauses)
            continue
        claimed |= clauses if rule.claims else 0
        if held:
            yield _Found(held, Said(rule.act, rule.topic, rule.item, rule.sure))
    claimed |= grave | told_back & ~reading.clauses.asked
    yield from _asked(reading, drugs, claimed, permitted)
    yield from _facts(reading, drugs, grave | told_back)


def _planned(reading: Reading, held: int) -> int:
    """Return the plans of the caller, to which "is that all right?" asks for nothing but a nod.

    Args:
        reading: The message.
        held: The last words of where there are plans.
    """
    clauses, places = reading.clauses, reading.places
    plans = clauses.filled(held)
    plans &= clauses.filled(plans & places.of(_SPEAKER))
    if not plans:
        return 0
    # "And have the pharmacist look at it" goes on; "and have you" asks.
    onward = places.of(_AND) & places.of(_HAVE) >> 1 & ~(places.of(_TURNED) >> 2)
    for before, clause in pairwise(clauses.clauses):
        if before & plans and clause & onward & clauses.starts:
            plans |= clause
    return plans


def _done(reading: Reading) -> Iterator[tuple[Rule, int]]:
    """Return the rules of acts that hold, and where."""
    worried = bool(reading.role(Role.WORRY))
    for rule, ends in reading.rules:
        if rule.act is None or (rule.worried and not worried):
            continue
        held = reading.held(rule, ends)
        if rule.act in SENSITIVE:
            held &= ~(reading.words.aside | reading.disowned | _imagined(rule, reading))
        if held and rule.act is Act.PRESSURE:
            held &= ~_screening(reading)
        if held:
            yield rule, held


def _screening(reading: Reading) -> int:
    """Return the questions of an instrument, which ask about guilt and fear without stirring them.

    A clause alone does not tell: "have you felt bad about yourself, or let your family down".
    """
    clauses = reading.clauses
    felt, symptoms = reading.role(Role.FELT), reading.role(Role.SYMPTOM)
    sentences = clauses.sentence(symptoms & reading.asked)
    sentences &= clauses.sentence(felt | reading.role(Role.FRAME))
    sentences &= ~clauses.sentence(reading.places.of(_TO_JOIN))
    # "You would let them down, and how often" says the first of it.
    places = reading.places
    opens = places.openings | (clauses.starts & places.of(_SINCE)) << 1
    said = opens & places.of(_YOU) & places.of(_WILL) >> 1
    asked = (reading.asked | clauses.filled(felt)) & clauses.filled(symptoms)
    return sentences & asked & ~clauses.filled(said)


def _imagined(rule: Rule, reading: Reading) -> int:
    return 0 if Scope.IMAGINED in rule.through else reading.imagined


# -- what is asked -------------------------------------------------------------------------------


def _asked(reading: Reading, drugs: _Drugs, claimed: int, permitted: int) -> Iterator[_Found]:
    """Return the questions about subjects, symptoms and medicines, and asked permissions.

    Args:
        reading: The message.
        drugs: The medicines that are named, and where.
        claimed: The clauses that ask something else.
        permitted: The clauses that ask whether something may be asked.
    """
    clauses = reading.clauses
    free = reading.asked & ~claimed & ~permitted & ~_elsewhere(reading)
    symptoms = tuple(_symptoms(reading, free))
    named = tuple(
        _Found(ends & free, Said(Act.ASK_TOPIC, Topic.MEDICATION, name))
        for name, ends in drugs
        if ends & free
    )
    if drugs and reading.places.of(_EACH):
        named += tuple(_named_before(reading, drugs, free & ~clauses.filled(_ends(symptoms))))
    yield from symptoms
    yield from named
    taken = dict.fromkeys(_OF_SYMPTOMS, clauses.filled(_ends(symptoms)))
    taken[Topic.MEDICATION] = clauses.filled(_ends(named))
    subjects = tuple(_subjects(reading, taken))
    yield from _placed(subjects, free, Act.ASK_TOPIC)
    yield from _permissions(reading, subjects, permitted)
    told = free & (_ends(symptoms) | _ends(named) | _ends(subjects)) | claimed | permitted
    open_ = free & ~clauses.sentence(told)
    if open_:
        yield from _dark(reading, subjects, open_, claimed | permitted)


def _named_before(reading: Reading, drugs: _Drugs, free: int) -> Iterator[_Found]:
    """Return the medicines of a list after which "do you take each of them" asks for them all.

    Args:
        reading: The message.
        drugs: The medicines that are named, and where.
        free: What is asked, of nothing that a questionnaire asks about.
    """
    clauses = reading.clauses
    each = reading.places.of(_EACH) & ~(reading.places.of(_OTHER) >> 1)
    asking = clauses.filled(free & each) & free
    for rule, ends in reading.rules:
        if rule.role is Role.SUBJECT and rule.topic not in (Topic.MEDICATION, None):
            asking &= ~clauses.filled(ends)
    if not asking or any(ends & asking for _, ends in drugs):
        return
    before = (asking & -asking) - 1
    before &= (clauses.sentence(asking) | clauses.back(asking, 1)) & ~free
    for name, ends in drugs:
        if ends & before:
            yield _Found(asking, Said(Act.ASK_TOPIC, Topic.MEDICATION, name))


def _dark(
    reading: Reading, subjects: tuple[_Found, ...], open_: int, taken: int
) -> Iterator[_Found]:
    """Return what a question is about that names nothing itself: what stands beside it, if any."""
    clauses = reading.clauses
    beside = clauses.sentence(open_) & ~clauses.filled(open_) & ~taken
    # "The blood pressure, what is that like?" asks about the blood pressure.
    about = tuple(_placed(subjects, beside & ~reading.places.of(_SPEAKER), Act.ASK_TOPIC))
    if not about:
        # "You missed some doses. What gets in the way of those?"
        pointed = open_ & reading.places.of(_POINTERS)
        about = tuple(_placed(subjects, clauses.back(pointed, 1) & ~taken, Act.ASK_TOPIC))
    yield from about or (_Found(open_, Said(Act.ASK_TOPIC, sure=False)),)


def _permissions(
    reading: Reading, subjects: tuple[_Found, ...], permitted: int
) -> Iterator[_Found]:
    """Return what may be asked about; the subject may have been named just before."""
    if not permitted:
        return
    clauses = reading.clauses
    about = tuple(_placed(subjects, permitted, Act.ASK_PERMISSION))
    pointed = permitted & clauses.filled(_pointers(reading))
    for back in (0, 1, 2):
        if not about:
            near = clauses.back(pointed, back) & ~reading.asked
            about = tuple(_placed(subjects, near, Act.ASK_PERMISSION))
    yield from about or (_Found(permitted, Said(Act.ASK_PERMISSION)),)


def _listed(reading: Reading, permitted: int) -> int:
    """Return what goes on after a permission without asking: "a few things: mood, and money".

    A question there is one all the same: "something: do you drink?". What is asked about in a
    roundabout way is not: "about your mood, and how you have been feeling".

    Args:
        reading: The message.
        permitted: The clauses that ask whether something may be asked.
    """
    clauses, places = reading.clauses, reading.places
    opens = reading.words.announced | places.of(_LIST) | places.of(_THAT) & places.of(_IS) >> 1
    opens &= clauses.starts
    links = places.of(_GOING_ON) & clauses.starts
    found = 0
    for before, clause in pairwise(clauses.clauses):
        follows = before & (permitted | found) and clauses.sentence(before) & clause
        onward = clause & (opens | links) or not clause & reading.role(Role.SUBJECT)
        if follows and onward and not clause & reading.role(Role.ASKS):
            found |= clause
    return found


def _pointers(reading: Reading) -> int:
    """Return the words that point back: ``them``, or ``it`` after ``about``."""
    places = reading.places
    return places.of(_POINTERS) | places.of(_POINTED) & places.of(_TO_POINT) << 1


def _placed(subjects: tuple[_Found, ...], where: int, act: Act) -> Iterator[_Found]:
    """Return an act about each subject that is named somewhere, the exact ones only."""
    here = [each for each in subjects if each.ends & where]
    exact = {each.said.topic for each in here}
    for each in here:
        topic = each.said.topic
        if topic is None and len(exact) > 1:
            continue
        if topic is Topic.MOOD and exact & _INSTRUMENTS:
            continue
        part = each.said.part if act is Act.ASK_TOPIC else None
        yield _Found(each.ends & where, Said(act, topic, part=part))


def _symptoms(reading: Reading, free: int) -> Iterator[_Found]:
    for rule, ends in reading.rules:
        if rule.role is Role.SYMPTOM:
            held = reading.held(rule, ends) & free
            if held:
                yield _Found(held, Said(Act.ASK_ITEM, rule.topic, rule.item))


def _subjects(reading: Reading, taken: Mapping[Topic | None, int]) -> Iterator[_Found]:
    """Return what is spoken about.

    Args:
        reading: The message.
        taken: The clauses in which something more exact than a subject is asked, by subject.
    """
    for rule, ends in reading.rules:
        if rule.role is Role.SUBJECT:
            held = reading.held(rule, ends)
            held &= ~taken.get(rule.topic, 0)
            if held:
                yield _Found(held, Said(Act.ASK_TOPIC, rule.topic, part=rule.part))


def _ends(found: Iterable[_Found]) -> int:
    bits = 0
    for each in found:
        bits |= each.ends
    return bits


def _elsewhere(reading: Reading) -> int:
    """Return what is not asked by the caller, here and now."""
    scopes = reading.scopes
    return scopes[Scope.QUOTED] | scopes[Scope.META] | scopes[Scope.REPORTED]


# -- what is known -------------------------------------------------------------------------------


def _facts(reading: Reading, drugs: _Drugs, aside: int) -> Iterator[_Found]:
    """Return the facts of a chart that are said as known.

    Args:
        reading: The message.
        drugs: The medicines that are named, and where.
        aside: The clauses that press or promise, or say back what the person told.
    """
    clauses, scopes = reading.clauses, reading.scopes
    told = clauses.sentence(reading.role(Role.KNOWN))
    told |= after(reading.role(Role.YOURS), _CLOSE, clauses.inside)
    told &= ~reading.asked | reading.tagged
    told &= ~(_elsewhere(reading) | scopes[Scope.NEGATED] | scopes[Scope.CONDITIONAL])
    told &= ~(reading.imagined | reading.disowned | reading.words.aside | aside)
    if not told:
        return
    for rule, ends in reading.rules:
        if rule.role is Role.FACT and reading.held(rule, ends) & told:
            yield _Found(ends & told, Said(Act.NAME_FACT, rule.topic, rule.item))
    for name, ends in drugs:
        if ends & told:
            yield _Found(ends & told, Said(Act.NAME_FACT, Topic.MEDICATION, name))
