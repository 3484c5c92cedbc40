"""What a person understands of what is said to them: the acts of an utterance, by a grammar.

The grammar is data (``ears/data``). What is asked about a subject, a symptom or a medicine is put
together here; every other act is found by its own patterns, with how its sentence sounds as a
second opinion.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from healthgym.worlds.managed_care.conversation.acts import (
    GRAVE,
    SENSITIVE,
    Act,
    Heard,
    Meant,
    Said,
)
from healthgym.worlds.managed_care.conversation.ears.grammar import (
    Grammar,
    Role,
    Rule,
    Scope,
    grammar,
)
from healthgym.worlds.managed_care.conversation.ears.medicines import medicines_of, named
from healthgym.worlds.managed_care.conversation.ears.questions import (
    SPEAKER,
    Drugs,
    Found,
    elsewhere,
    listed,
    questions,
)
from healthgym.worlds.managed_care.conversation.ears.reading import Reading, after, read
from healthgym.worlds.managed_care.conversation.ears.second_opinion import (
    asked,
    overheard,
    understood,
    weighed,
)
from healthgym.worlds.managed_care.conversation.ears.sounds import SILENCE, Sounding, sounding
from healthgym.worlds.managed_care.conversation.ears.words import Words, heard_words
from healthgym.worlds.managed_care.voices import PRIVATE, Part, Topic

#: Letters up to which a message is remembered.
_SHORT = 1_000
#: What is done all the same in a clause with a grave act.
_STANDING = frozenset({Act.GREET, Act.INTRODUCE, Act.CLOSE, Act.RESPOND_SAFETY})
#: What may stand after a goodbye, which it does not take back.
_PARTING = frozenset(
    {Act.GREET, Act.ACKNOWLEDGE, Act.OFFER_AUTONOMY, Act.OFFER_MATERIAL, Act.OFFER_CALLBACK}
    | {Act.ACCEPT_REFUSAL, Act.RESPOND_SAFETY, Act.SUMMARIZE, Act.NEXT_STEPS}
)
#: Words within which a fact follows "your" or "you have".
_CLOSE = 6
#: Words of a question that wants a yes, whatever it says of how somebody feels.
_TO_JOIN = frozenset(
    {"agree", "agreeing", "consent", "decline", "declining", "enroll", "enrolling", "hang"}
    | {"join", "joining", "participate", "refuse", "refusing", "sign", "signing"}
)
_YOU = "you"
_READY = frozenset({"ready", "prepared", "motivated"})
_TO_ASK = frozenset({"ask", "asked", "asking", "question", "questions"})
_SINCE = frozenset({"since", "because"})
#: Leave to ask about something that is not said.
_SOMETHING = Said(Act.ASK_PERMISSION)
_AND = "and"
#: What a plan goes on with.
_DOING = frozenset({"have", "let", "ask", "send", "call", "arrange", "bring", "get", "set", "talk"})
_TURNED = frozenset({"you", "they", "there", "anyone", "someone"})
_WILL = frozenset({"would", "will", "are", "may", "might", "could", "can"})
#: What is not done with the words for what gets hindered: "from looking after yourself?"
_TOLD = frozenset(
    {Act.CLOSE, Act.STATE_SHARING, Act.DISCLOSE_ACCESS, Act.EXPLAIN_BENEFIT, Act.OFFER_AUTONOMY}
)


def understand(
    message: str, meant: tuple[Meant, ...] = (), medicines: tuple[str, ...] = ()
) -> Heard:
    """Return the acts that an utterance holds, as :func:`understand_anew` does.

    What was heard lately is remembered: phrase books say the same to many, and so do the many
    attempts at one task. Who takes something else hears the same, unless it is named.

    Args:
        message: What is said; any text.
        meant: What the caller says to have meant by it.
        medicines: Names of the medicines of who listens.
    """
    if len(message) > _SHORT:
        return understand_anew(message, meant, medicines)
    return _lately(message, meant, named(_words(message).words, medicines))


def understand_anew(
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
    return _understood(heard_words(message, grammar().spelling), meant, medicines)


@lru_cache(maxsize=2048)
def _lately(message: str, meant: tuple[Meant, ...], medicines: tuple[str, ...]) -> Heard:
    """Return what is understood of a short message, as long as there are not too many."""
    return _understood(_words(message), meant, medicines)


@lru_cache(maxsize=2048)
def _words(message: str) -> Words:
    return heard_words(message, grammar().spelling)


def understand_by_grammar(message: str) -> Heard:
    """Return the acts that the grammar alone hears in an utterance, however it sounds."""
    return _understood(heard_words(message, grammar().spelling), sounds=SILENCE)


def _understood(
    words: Words,
    meant: tuple[Meant, ...] = (),
    medicines: tuple[str, ...] = (),
    sounds: Sounding | None = None,
) -> Heard:
    known = grammar()
    reading = read(words, known)
    sounds = sounds or sounding(words, reading.clauses)
    heard = tuple(_found(reading, known, medicines, sounds))
    said = tuple(asked(reading, sounds, heard))
    found = sorted(
        understood(said, tuple(overheard(reading, sounds, said))),
        key=lambda each: each.ends & -each.ends,
    )
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
    acts: tuple[Said, ...], meant: tuple[Meant, ...], reading: Reading, found: list[Found]
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


def _found(
    reading: Reading, known: Grammar, medicines: tuple[str, ...], sounds: Sounding
) -> Iterator[Found]:
    """Return all acts that the grammar hears, and where they were found."""
    drugs = tuple(medicines_of(reading, known, medicines))
    done = tuple(_done(reading, sounds))
    acts = {rule.act for rule, _, _ in done}
    claimed = permitted = grave = 0
    told_back = requests = shared = ringing = 0
    ends = _ending(reading, done)
    for rule, held, sure in done:
        if rule.act in GRAVE and sure:
            grave |= reading.clauses.filled(held)
        elif rule.act is Act.REQUEST_CONSENT:
            requests |= reading.clauses.filled(held)
        elif rule.act is Act.STATE_SHARING:
            shared |= reading.clauses.sentence(held)
        elif rule.act is Act.SUMMARIZE:
            told_back |= reading.clauses.sentence(held)
        elif rule.act is Act.NEXT_STEPS:
            claimed |= _planned(reading, held)
        elif rule.act is Act.OFFER_CALLBACK:
            ringing |= reading.clauses.filled(
                held & ~reading.clauses.sentence(reading.places.of(_TO_ASK))
            )
    for rule, held, sure in done:
        if rule.act is None or rule.yields & acts:
            continue
        if rule.act not in SENSITIVE and rule.act not in _STANDING:
            held &= ~grave
        if rule.act in _TOLD:
            held &= ~reading.hindered
        if rule.act in GRAVE and not rule.sure:
            held &= ~shared  # "Unless somebody is in danger" is what has to be said.
        clauses = reading.clauses.filled(held)
        if rule.act is Act.ASK_PERMISSION and rule.topic is None:
            clauses &= ~ringing  # "Is it all right if I call you later?" asks for no leave to ask
            if not clauses:
                continue
            permitted |= clauses | reading.tagged & reading.clauses.sentence(held)
            permitted |= listed(reading, clauses)
            continue
        claimed |= clauses if rule.claims else 0
        if rule.act is Act.ASK_WILLINGNESS and clauses & reading.places.of(_READY):
            # "How ready are you to change things, taking the pills, say?" asks nothing of pills.
            claimed |= reading.clauses.sentence(held)
        if held:
            ended = rule.act is not Act.CLOSE or bool(held & ends)
            yield Found(held, Said(rule.act, rule.topic, rule.item, sure and ended))
    claimed |= grave | told_back & ~reading.clauses.asked
    put = tuple(questions(reading, drugs, claimed, permitted))
    yield from put
    if requests or any(each.said == _SOMETHING for each in put):
        yield from _private(reading, requests | permitted)
    yield from _facts(reading, drugs, grave | told_back)


def _planned(reading: Reading, held: int) -> int:
    """Return the plans of the caller, to which "is that all right?" asks for nothing but a nod.

    Args:
        reading: The message.
        held: The last words of where there are plans.
    """
    clauses, places = reading.clauses, reading.places
    plans = clauses.filled(held)
    plans &= clauses.filled(plans & places.of(SPEAKER))
    if not plans:
        return 0
    # "And have the pharmacist look at it" goes on, as does a list of what will be done after a
    # colon; "and have you" asks.
    begins = clauses.starts | (places.of(_AND) & clauses.starts) << 1
    onward = begins & places.of(_DOING) & ~(places.of(_TURNED) >> 1) & ~clauses.asked
    # "Here is what I have in mind: a social worker looks at the bills."
    onward |= reading.words.announced & clauses.starts & ~reading.role(Role.ASKS)
    for clause in clauses.clauses:
        earlier = (clause & -clause) - 1
        if clause & onward and clauses.sentence(plans & earlier) & clause:
            plans |= clause
    return plans


def _done(reading: Reading, sounds: Sounding) -> Iterator[tuple[Rule, int, bool]]:
    """Return the rules of acts that hold, where, and whether without a doubt."""
    worried = bool(reading.role(Role.WORRY))
    for rule, ends in reading.of(None):
        if rule.act is None or (rule.worried and not worried):
            continue
        held = reading.held(rule, ends)
        if rule.act in SENSITIVE:
            held &= ~(reading.words.aside | reading.disowned | _imagined(rule, reading))
        if held and rule.act is Act.PRESSURE:
            held &= ~_screening(reading)
        held, sure = weighed(rule, held, sounds)
        if held:
            yield rule, held, sure


def _private(reading: Reading, requests: int) -> Iterator[Found]:
    """Return the private subjects that are named beside a request for a yes, perhaps to those.

    Args:
        reading: The message.
        requests: The clauses that ask for the yes.
    """
    other = reading.asked & ~requests
    for rule, ends in reading.of(Role.SUBJECT):
        held = reading.held(rule, ends) & ~other if rule.topic in PRIVATE else 0
        if held:
            yield Found(held, Said(Act.ASK_PERMISSION, rule.topic, sure=False))


def _ending(reading: Reading, done: Iterable[tuple[Rule, int, bool]]) -> int:
    """Return the words after which a message does not go on: only there is a goodbye one.

    Thanks, wishes and what happens next go with a goodbye, in any order.
    """
    closing = onward = 0
    for rule, held, _ in done:
        if rule.act is Act.CLOSE:
            closing |= reading.clauses.filled(held)
        elif rule.act not in _PARTING and rule.sure:
            onward |= held
    onward = (onward | reading.asked) & ~closing
    return ~((1 << onward.bit_length()) - 1)


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


# -- what is known -------------------------------------------------------------------------------


def _facts(reading: Reading, drugs: Drugs, aside: int) -> Iterator[Found]:
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
    told &= ~(elsewhere(reading) | scopes[Scope.NEGATED] | scopes[Scope.CONDITIONAL])
    told &= ~(reading.imagined | reading.disowned | reading.words.aside | aside)
    if not told:
        return
    for rule, ends in reading.of(Role.FACT):
        if reading.held(rule, ends) & told:
            yield Found(ends & told, Said(Act.NAME_FACT, rule.topic, rule.item))
    for name, ends in drugs:
        if ends & told:
            yield Found(ends & told, Said(Act.NAME_FACT, Topic.MEDICATION, name))
