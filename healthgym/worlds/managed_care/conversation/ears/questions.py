"""What is asked about: subjects, symptoms and medicines, and whether something may be asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from healthgym.worlds.managed_care.conversation.acts import Act, Said
from healthgym.worlds.managed_care.conversation.ears.grammar import Role, Scope
from healthgym.worlds.managed_care.conversation.ears.reading import Reading
from healthgym.worlds.managed_care.voices import Part, Topic

#: Subjects which a question about a symptom is about besides, without being asked about.
_OF_SYMPTOMS = (Topic.MOOD, Topic.PHQ9, Topic.GAD7, Topic.SAFETY, None)
_INSTRUMENTS = frozenset({Topic.PHQ9, Topic.GAD7})
#: What is asked of a medicine besides how it is taken.
_OF_ONE = frozenset({Part.AMOUNT, Part.HISTORY})
#: Words for what was named before and gets in the way: "does yours keep you from it?"
_CAUSES = frozenset({"it", "that", "this", "they", "those", "these", "yours"})
#: Those of them that stand for something, whatever it was called.
_SOMETHING = frozenset({"that", "those", "these", "yours"})
#: Words that point back to what was named before.
_POINTERS = frozenset({"them", "these", "those"})
_EACH = _POINTERS | {"each"}
_OTHER = "other"
_POINTED = frozenset({"it", "that", "this"})
#: What one does with a medicine that was named before.
_TAKING = frozenset({"take", "taking", "use", "using", "skip", "skipping", "miss", "missing"})
#: Most words of what is no more than named before it is asked about.
FEW = 8
#: Most words of "and how often was that".
_LITTLE = 5
#: Verbs that say something of somebody, unless who it is stands right before: "what you can do".
_VERBS = frozenset(
    {"am", "are", "is", "was", "were", "do", "does", "did", "have", "has", "had", "can", "could"}
    | {"will", "would", "shall", "should", "may", "might", "must"}
)
_OF_WHOM = frozenset({"you", "he", "she", "they", "that", "which", "who"})
#: Words of somebody who tells, and those that a sentence about somebody begins with.
_TELLS = frozenset(
    {"i", "we", "me", "us", "my", "our", "thank", "thanks", "sorry", "please", "let", "not"}
    | {"okay", "good", "well", "understood", "yes", "no"}
)
_WHO_DOES = frozenset({"you", "he", "she", "they", "it", "this", "that", "there", "these", "if"})
#: Words by which a questionnaire is answered.
_OFTEN = frozenset({"several", "half", "nearly"})
#: Words that open a list of what was announced.
_LIST = frozenset({"about", "namely"})
#: Words that go on a list.
_GOING_ON = frozenset({"and", "or", "then", "after", "if", "your", "about", "how"})
_THAT, _IS, _AND, _WHO, _YOU = "that", "is", "and", "who", "you"
_SINCE, _BECAUSE = "since", "because"
_EVER_SINCE = frozenset({"since", "after"})
_EXAMPLES = frozenset({"example", "instance", "such"})
#: Words of leave that somebody gave: "you said that I may ask about money".
_GAVE, _TO_ASK = (
    frozenset({"said", "told", "allowed", "agreed", "let"}),
    frozenset({"ask", "asking"}),
)
#: "And what worries you most?"
_WEIGHS = frozenset({"worries", "bothers", "troubles", "weighs", "concerns", "scares"})
_TO_POINT = frozenset({"about", "through", "into", "over", "discuss", "if", "is"})
#: Medicines that are named, and where.
Drugs = tuple[tuple[str, int], ...]
#: Words of a clause in which the caller speaks of themselves.
SPEAKER = frozenset({"i", "we"})


@dataclass(frozen=True, slots=True)
class Found:
    """An act and the last words of where it was found."""

    ends: int
    said: Said


def questions(reading: Reading, drugs: Drugs, claimed: int, permitted: int) -> Iterator[Found]:
    """Return the questions about subjects, symptoms and medicines, and asked permissions.

    Args:
        reading: The message.
        drugs: The medicines that are named, and where.
        claimed: The clauses that ask something else.
        permitted: The clauses that ask whether something may be asked.
    """
    clauses = reading.clauses
    free = reading.asked & ~claimed & ~permitted & ~elsewhere(reading)
    if reading.hindered:
        free &= ~_only_hindered(reading, drugs)
    symptoms = tuple(_symptoms(reading, free))
    named = tuple(
        Found(ends & free, Said(Act.ASK_TOPIC, Topic.MEDICATION, name))
        for name, ends in drugs
        if ends & free
    )
    if drugs and reading.places.of(_EACH | _POINTED):
        named += tuple(_named_before(reading, drugs, free & ~clauses.filled(_ends(symptoms))))
    yield from symptoms
    yield from named
    taken = dict.fromkeys(_OF_SYMPTOMS, clauses.filled(_ends(symptoms)))
    taken[Topic.MEDICATION] = clauses.filled(_ends(named))
    subjects = tuple(_subjects(reading, taken))
    yield from _placed(subjects, free, Act.ASK_TOPIC)
    yield from _apart(reading, subjects, free)
    yield from _permissions(reading, subjects, permitted)
    told = free & (_ends(symptoms) | _ends(named) | _ends(subjects)) | claimed | permitted
    open_ = free & ~clauses.sentence(told) & ~clauses.filled(reading.role(Role.TAG))
    open_ &= ~_how_often(reading, _ends(symptoms))
    if open_:
        yield from _dark(reading, subjects, open_, claimed | permitted)


def _only_hindered(reading: Reading, drugs: Drugs) -> int:
    """Return what is asked about as hindered by something else, which the question is about.

    "Does your job keep you from taking your medicines?" asks about the job. Where nothing is named
    that hinders, what gets hindered is asked about.

    Args:
        reading: The message.
        drugs: The medicines that are named, and where.
    """
    clauses, hindered = reading.clauses, reading.hindered
    named = 0
    for _, ends in drugs:
        named |= ends
    for rule, ends in (*reading.of(Role.SUBJECT), *reading.of(Role.SYMPTOM)):
        if rule.topic is not None:
            named |= reading.held(rule, ends)
    named &= ~hindered
    causes = reading.places.of(_CAUSES) & ~hindered
    pointed = reading.places.of(_SOMETHING) & ~hindered
    found = 0
    for clause in clauses.clauses:
        before = clause
        if clause & causes:
            # "How is your mood, and does it", "I know jobs can be hard. Does yours".
            earlier = clauses.sentence(clause) | clauses.back(clause, 1)
            before |= earlier & ((clause & -clause) - 1)
        if clause & hindered and (before & named or clause & pointed):
            found |= clause & hindered
    return found


def _named_before(reading: Reading, drugs: Drugs, free: int) -> Iterator[Found]:
    """Return the medicines of a list after which "do you take each of them" asks for them all.

    "And losartan, how do you take that one?" asks for the one.

    Args:
        reading: The message.
        drugs: The medicines that are named, and where.
        free: What is asked, of nothing that a questionnaire asks about.
    """
    clauses = reading.clauses
    places = reading.places
    each = places.of(_EACH) & ~(places.of(_OTHER) >> 1)
    each |= places.of(_POINTED) & clauses.filled(places.of(_TAKING))
    asking = clauses.filled(free & each) & free
    for rule, ends in reading.of(Role.SUBJECT):
        if rule.topic not in (Topic.MEDICATION, None) or rule.part is Part.OTHERS:
            asking &= ~clauses.filled(ends)
    if not asking or any(ends & asking for _, ends in drugs):
        return
    before = (asking & -asking) - 1
    before &= (clauses.sentence(asking) | clauses.back(asking, 1)) & ~free
    for name, ends in drugs:
        if ends & before:
            yield Found(asking, Said(Act.ASK_TOPIC, Topic.MEDICATION, name))


def _dark(reading: Reading, subjects: tuple[Found, ...], open_: int, taken: int) -> Iterator[Found]:
    """Return what a question is about that names nothing itself: what stands beside it, if any."""
    clauses = reading.clauses
    beside = clauses.sentence(open_) & ~clauses.filled(open_) & ~taken
    beside |= _named_first(reading, open_) & ~taken
    about: tuple[Found, ...] = ()
    if reading.places.of(_OFTEN) & open_:
        # "The low feeling: is that several days?" asks for an answer to the questionnaire.
        about = tuple(_symptoms(reading, beside))
    # "The blood pressure, what is that like?" asks about the blood pressure.
    named = beside & ~reading.places.of(SPEAKER)
    about = about or tuple(_placed(subjects, named, Act.ASK_TOPIC))
    if not about:
        # "You missed some doses. What gets in the way of those?"
        pointed = open_ & reading.places.of(_POINTERS)
        if reading.hindered & clauses.filled(open_):
            pointed |= open_ & reading.places.of(_CAUSES)
        about = tuple(_placed(subjects, clauses.back(pointed, 1) & ~taken, Act.ASK_TOPIC))
    yield from about or (Found(open_, Said(Act.ASK_TOPIC, sure=False)),)


def _how_often(reading: Reading, symptoms: int) -> int:
    """Return what asks how often it was, of what was asked right before: "Slept badly? How often?".

    Args:
        reading: The message.
        symptoms: The last words of what a questionnaire asks about.
    """
    frames, found = reading.role(Role.FRAME), 0
    if not frames or not symptoms:
        return found
    for before, sentence in pairwise(reading.clauses.sentences):
        if sentence & frames and before & symptoms and sentence.bit_count() <= _LITTLE:
            found |= sentence
    return found


def _named_first(reading: Reading, open_: int) -> int:
    """Return what is named before a question that names nothing: "Getting there - is that hard?".

    It is no sentence of its own: nobody is said to do or to be anything in it, unless to have
    given leave to ask about it.

    Args:
        reading: The message.
        open_: What is asked.
    """
    clauses, places = reading.clauses, reading.places
    told = places.of(_VERBS) & ~(places.of(_OF_WHOM) << 1)
    told |= places.of(_TELLS) | places.of(_WHO_DOES) & _first(clauses.sentences)
    told &= ~clauses.sentence(places.of(_GAVE) & clauses.sentence(places.of(_TO_ASK)))
    found = 0
    for before, sentence in pairwise(clauses.sentences):
        if sentence & open_ and not before & (told | reading.asked):
            few = before.bit_count() <= FEW
            found |= before if few or before & places.of(_TO_ASK) else 0
    return found


def _first(spans: Iterable[int]) -> int:
    """Return the first word of each span."""
    bits = 0
    for span in spans:
        bits |= span & -span
    return bits


def _last(spans: Iterable[int]) -> int:
    """Return the last word of each span."""
    bits = 0
    for span in spans:
        bits |= 1 << span.bit_length() - 1
    return bits


def _permissions(reading: Reading, subjects: tuple[Found, ...], permitted: int) -> Iterator[Found]:
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
    yield from about or (Found(permitted, Said(Act.ASK_PERMISSION)),)


def listed(reading: Reading, permitted: int) -> int:
    """Return what goes on after a permission without asking: "a few things: mood, and money".

    A question there is one all the same: "something: do you drink?". What is asked about in a
    roundabout way is not: "about your mood, and how you have been feeling, and who helps you".

    Args:
        reading: The message.
        permitted: The clauses that ask whether something may be asked.
    """
    clauses, places = reading.clauses, reading.places
    opens = reading.words.announced | places.of(_LIST) | places.of(_THAT) & places.of(_IS) >> 1
    opens &= clauses.starts
    links = places.of(_GOING_ON) & clauses.starts
    asks = reading.role(Role.ASKS)
    # "And who helps you" goes on; "and who can help you" may be a question.
    who = places.of(_WHO) & (clauses.starts | (links & places.of(_AND)) << 1)
    roundabout = clauses.filled(who & ~(places.of(_VERBS) >> 1)) & clauses.filled(places.of(_AND))
    found = 0
    for before, clause in pairwise(clauses.clauses):
        follows = before & (permitted | found) and clauses.sentence(before) & clause
        onward = clause & (opens | links) or not clause & reading.role(Role.SUBJECT)
        if follows and onward and (not clause & asks or clause & roundabout):
            found |= clause
    return found


def _pointers(reading: Reading) -> int:
    """Return the words that point back: ``them``, or ``it`` after ``about``."""
    places = reading.places
    return places.of(_POINTERS) | places.of(_POINTED) & places.of(_TO_POINT) << 1


def _placed(subjects: tuple[Found, ...], where: int, act: Act) -> Iterator[Found]:
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
        yield Found(each.ends & where, Said(act, topic, part=part))


def _apart(reading: Reading, subjects: tuple[Found, ...], where: int) -> Iterator[Found]:
    """Return questions that name no subject, each a sentence of its own beside others that do."""
    exact = _ends(each for each in subjects if each.said.topic is not None and each.ends & where)
    if exact:
        alone = where & ~reading.clauses.sentence(exact) & reading.places.of(_WEIGHS)
        for each in subjects:
            if each.said.topic is None and reading.clauses.sentence(each.ends) & alone:
                yield Found(each.ends & where, each.said)


def _symptoms(reading: Reading, free: int) -> Iterator[Found]:
    free &= ~_given(reading)
    for rule, ends in reading.of(Role.SYMPTOM):
        held = reading.held(rule, ends) & free
        if held:
            yield Found(held, Said(Act.ASK_ITEM, rule.topic, rule.item))


def _given(reading: Reading) -> int:
    """Return what is given as the reason of a question: "since you feel low, the next three"."""
    clauses, places = reading.clauses, reading.places
    opens = places.openings | (clauses.starts & places.of(_AND)) << 1
    yours = opens & places.of(_YOU) >> 1
    # "Do you leave it out because you feel low?" asks about that.
    why = clauses.filled(yours & places.of(_BECAUSE)) & ~clauses.filled(_last(clauses.sentences))
    given = clauses.filled(yours & places.of(_SINCE)) | why
    examples = places.of(_EXAMPLES)
    for rule, ends in reading.of(Role.SUBJECT) if examples else ():
        if rule.part is Part.SELF_MONITORING:
            # "Do you keep track of anything, for example your mood?" asks about that.
            measured = clauses.sentence(reading.held(rule, ends))
            given |= (clauses.to_end(examples) | clauses.filled(examples)) & measured
    return given


def _subjects(reading: Reading, taken: Mapping[Topic | None, int]) -> Iterator[Found]:
    """Return what is spoken about.

    Args:
        reading: The message.
        taken: The clauses in which something more exact than a subject is asked, by subject.
    """
    clauses = reading.clauses
    treated = seen = framed = ailing = other = 0
    if taken[Topic.GAD7]:
        # "Now your nerves, over the last two weeks: have you been on edge?" asks the one thing.
        framed = clauses.sentence(taken[Topic.GAD7]) | clauses.sentence(reading.role(Role.FRAME))
    given = _given(reading)
    for rule, ends in reading.of(Role.SUBJECT):
        if rule.part is Part.TREATMENT:
            treated |= clauses.filled(reading.held(rule, ends))
        elif rule.part in (Part.FOLLOW_UP, Part.TESTS):
            # "Since the hospital, have you seen your doctor?"
            held = reading.held(rule, ends)
            before = clauses.back(held, 1)
            seen |= clauses.sentence(held) | (before if before.bit_count() <= FEW else 0)
        elif rule.part is Part.SYMPTOMS:
            ailing |= clauses.filled(reading.held(rule, ends))
        if rule.topic not in (None, Topic.HOSPITAL_STAY):
            # "Have you fallen since you came home?"
            other |= clauses.sentence(reading.held(rule, ends))
    for rule, ends in reading.of(Role.SUBJECT):
        held = reading.held(rule, ends)
        if rule.part is None:
            held &= ~given
        if rule.part not in _OF_ONE:  # "what do you take naproxen for?"
            held &= ~taken.get(rule.topic, 0)
        if rule.topic is Topic.MOOD and rule.part is None:
            held &= ~treated  # "Does anybody treat you for your mood?" asks no more than that
            held &= ~framed
        if rule.topic is Topic.DIAGNOSIS and rule.part is None:
            held &= ~ailing  # "Any pain in your chest?" asks no more than that
        if rule.topic is Topic.HOSPITAL_STAY and rule.part is None:
            held &= ~(seen | reading.clauses.onward(reading.places.of(_EVER_SINCE)) & other)
        if held:
            yield Found(held, Said(Act.ASK_TOPIC, rule.topic, part=rule.part))


def _ends(found: Iterable[Found]) -> int:
    bits = 0
    for each in found:
        bits |= each.ends
    return bits


def elsewhere(reading: Reading) -> int:
    """Return what is not asked by the caller, here and now."""
    scopes = reading.scopes
    return scopes[Scope.QUOTED] | scopes[Scope.META] | scopes[Scope.REPORTED]
