"""What stands on file of a person and was said on the phone, against which free texts are held."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from healthgym.envs.managed_care.care_management.granted_words import PAGES, other_words
from healthgym.worlds.managed_care.apps.care_management.evidence import Evidence
from healthgym.worlds.managed_care.charts.knowledge import brands_of
from healthgym.worlds.managed_care.leaves import leaves
from healthgym.worlds.managed_care.records.care import CMReferral
from healthgym.worlds.managed_care.seen import Seen
from healthgym.worlds.managed_care.texts import Texts
from healthgym.worlds.managed_care.voices import Topic

#: Whom a plan may bring in, whoever has been heard of.
_OF_THE_DESK = frozenset(
    {"caseworker", "dietitian", "expert", "family", "friend", "friends", "hospital", "lab"}
    | {"laboratory", "money", "partner", "pharmacies", "pharmacist", "pharmacists", "pharmacy"}
    | {"therapist", "therapists"}
)
#: Who is spoken of with a subject, by whatever name: "my job lets me go".
_SPOKEN_OF = {Topic.WORK: frozenset({"boss", "bosses", "employer", "employers"})}
#: Who and what comes with a subject that is in the way: who owes rent has a landlord.
_COMES_WITH = {Topic.HOUSING: frozenset({"landlady", "landlord", "lease", "tenant", "tenants"})}


def seen_of(
    known: Evidence,
    referral: CMReferral,
    spoken: Callable[[], str],
    written: Callable[[], str],
    *,
    talked: bool,
) -> Seen:
    """Return what people, names and deeds in a text are held against.

    Args:
        known: What chart and person have said.
        referral: The referral.
        spoken: Returns the words of the calls.
        written: Returns the words of what is on file.
        talked: Whether the person said something.
    """
    told = {each.topic for each in known.told}
    hard = {each.topic for each in known.told if each.present}
    return Seen(
        Texts(_texts(known, referral, spoken, written)),
        str,
        talked,
        free=_OF_THE_DESK.union(
            *(_SPOKEN_OF.get(topic, ()) for topic in told),
            *(_COMES_WITH.get(topic, ()) for topic in hard),
        ),
        pages=PAGES,
        spoken_with=talked,
        heard=talked,
        other_words=other_words,
    )


def _texts(
    known: Evidence, referral: CMReferral, spoken: Callable[[], str], written: Callable[[], str]
) -> Iterator[str]:
    """Yield all that is on file and all that was said, those first in which most is found."""
    chart = known.chart
    yield _words_of(chart.conditions, chart.medications, chart.patient, referral)
    yield spoken()
    yield " ".join(brand for each in chart.medications for brand in brands_of(each.medication_name))
    yield _words_of(chart.observations, chart.encounters, chart.procedures)
    yield written()


def _words_of(*rows: object) -> str:
    """Return all that rows say, in the words of their fields."""
    return "\n".join([each for each in leaves(rows) if isinstance(each, str)])
