"""What an episode left in the record: its writes, less what was taken back."""

from __future__ import annotations

from collections.abc import Iterator, Set
from datetime import datetime, timedelta

from healthgym.core.borders import JsonDict, JsonObject
from healthgym.envs.fhir_record.orders import faults, identifies, is_about
from healthgym.envs.fhir_record.orders.instructions import asks_otherwise
from healthgym.envs.fhir_record.orders.remarks import ending_clauses, ending_of, goes_on
from healthgym.envs.fhir_record.orders.words import (
    has_modifier,
    is_one_of,
    listed,
    references_in,
    texts_in,
)
from healthgym.envs.fhir_record.task import BASE_URL, OrderSpec
from healthgym.envs.fhir_record.view import concept_text, parse_time
from healthgym.worlds.fhir.errors import FhirError
from healthgym.worlds.fhir.store import FhirStore, Write, WriteKind

#: Statuses by which a MedicationRequest is discontinued.
_ENDED = frozenset({"stopped", "cancelled", "completed", "entered-in-error"})
#: Statuses by which an entry of one's own is taken back.
_TAKEN_BACK = frozenset({"stopped", "cancelled", "entered-in-error", "revoked"})
_ASIDE = frozenset({"id", "meta", "status", "statusReason"})
#: Statuses of an order that another one may not end by the way.
_GOES_ON = frozenset({"active", "on-hold"})
#: What a note beside an order that is ended may ask for: that it ends.
_ENDING = OrderSpec("ending", "MedicationRequest", "ending")
#: What a copy that takes an entry back may say of itself.
_OF_COPY = _ASIDE | {"authoredOn", "note", "identifier", "issued"}


class Ledger:
    """The writes of an episode, crossed off as checks account for them.

    What was written and taken back again within the episode is no longer in the record, and is
    counted instead. It is taken back by an update of its status or, where the protocol has no
    update, by posting a copy of it with a status that ends it.

    Args:
        before: The record at the start.
        after: The record as it is.
        patient: Id of the patient asked about.
        begin: When the question was asked.
        end: When the episode stands.
        stops: Ids of the orders that must no longer be active.

    Attributes:
        open: The writes that nothing has accounted for.
        withdrawn: How many entries were taken back.
    """

    def __init__(
        self,
        before: FhirStore,
        after: FhirStore,
        patient: str,
        begin: datetime,
        end: datetime,
        stops: Set[str] = frozenset(),
    ) -> None:
        self._before = before
        self._patient = patient
        self._begin = begin
        self._end = end
        self._stops = stops
        self.open = list(_final(before, after.written))
        self._own = {(w.resource_type, w.id) for w in self.open if w.kind is WriteKind.CREATE}
        self.withdrawn = self._cross_off_withdrawn()

    def _cross_off_withdrawn(self) -> int:
        created = {write.id for write in self.open if write.kind is WriteKind.CREATE}
        count = 0
        for write in list(self.open):
            if write not in self.open or not is_one_of(write.resource.get("status"), _TAKEN_BACK):
                continue
            if write.kind is WriteKind.UPDATE and write.id in created:
                self.open = [other for other in self.open if other.id != write.id]
                count += 1
            elif write.kind is WriteKind.CREATE:
                own = self._copied_from(write)
                if own is not None:
                    self.open = [other for other in self.open if other not in (own, write)]
                    count += 1
        return count

    def _copied_from(self, copy: Write) -> Write | None:
        """Return the earlier entry of this episode that a write is an ended copy of."""
        earlier = self.open[: self.open.index(copy)]
        for write in reversed(earlier):
            same = write.kind is WriteKind.CREATE and write.resource_type == copy.resource_type
            standing = not is_one_of(write.resource.get("status"), _ENDED | _TAKEN_BACK)
            if (
                same
                and standing
                and _content(write.resource, _OF_COPY) == _content(copy.resource, _OF_COPY)
            ):
                return write
        return None

    # -- orders --------------------------------------------------------------------------------

    def meant(self, spec: OrderSpec) -> list[Write]:
        """Return the writes that are meant as an order, right or wrong in their details."""
        return [
            write
            for write in self.open
            if write.kind is WriteKind.CREATE
            and not is_one_of(write.resource.get("status"), _ENDED)
            and identifies(spec, write.resource)
            and is_about(write.resource, self._patient)
        ]

    def settle(self, spec: OrderSpec, write: Write) -> list[str]:
        """Cross off the write of an order, and return what is wrong with it."""
        self.open.remove(write)
        names = _names(self._before, self._patient)
        wrong = faults(spec, write.resource, self._patient, self._begin, self._end, names)
        if not self._ends_none_that_stands(write.resource):
            wrong.append("replaces")
        if not all(map(self._is_of_patient, references_in(write.resource))):
            wrong.append("references")
        return wrong

    def _is_of_patient(self, reference: str) -> bool:
        """Return whether what an order refers to is nobody else's, as far as it is on record."""
        kind, id_ = _named(reference)
        if kind == "Patient":
            return id_ == self._patient
        try:
            found = self._before.read(kind, id_)
        except FhirError:
            return True
        people = [found.get(name) for name in ("subject", "patient")]
        whose = [one["reference"] for one in people if isinstance(one, dict) and "reference" in one]
        return all(_named(str(one))[1] == self._patient for one in whose)

    def _ends_none_that_stands(self, resource: JsonObject) -> bool:
        """Return whether what an order takes the place of was not to go on anyway."""
        return all(
            reference in self._own or self._may_end(reference)
            for name in ("replaces", "priorPrescription")
            for one in listed(resource.get(name))
            for reference in [_local(one)]
        )

    def _may_end(self, reference: tuple[str, str] | None) -> bool:
        if reference is None:
            return False
        try:
            replaced = self._before.read(*reference)
        except FhirError:
            return False
        ended = not is_one_of(replaced.get("status"), _GOES_ON)
        return is_about(replaced, self._patient) and (ended or reference[1] in self._stops)

    # -- stops ---------------------------------------------------------------------------------

    def stop(self, order: str) -> bool:
        """Cross off the write that discontinues an order of the chart; return whether there is one.

        An order is discontinued by an update, or by filing a stopped copy.
        """
        original = self._before.read("MedicationRequest", order)
        for write in self.open:
            resource = write.resource
            ended = is_one_of(resource.get("status"), _ENDED)
            if write.resource_type != "MedicationRequest" or not ended:
                continue
            updated = write.kind is WriteKind.UPDATE and write.id == order
            copied = (
                write.kind is WriteKind.CREATE
                and is_about(resource, self._patient)
                and _same_drug(resource, original)
                and self._ends(resource, original)
            )
            if (updated and _content(original) == _content(resource)) or copied:
                self.open.remove(write)
                return True
        return False

    def _ends(self, copy: JsonObject, original: JsonObject) -> bool:
        """Return whether an ended copy says in no other element that anything is to be done."""
        known = {*texts_in(original), *texts_in(copy.get("medicationCodeableConcept"))}
        drug = concept_text(original.get("medicationCodeableConcept"))
        said = [ending_of(drug, text) for text in texts_in(copy) if text not in known]
        dated = copy.get("authoredOn")
        written = parse_time(dated) if isinstance(dated, str) else None
        return not (
            has_modifier(copy)
            or copy.get("doNotPerform")
            or copy.get("intent", "order") != "order"
            or (written is not None and written > self._end + timedelta(minutes=1))
            or any(goes_on(text) or asks_otherwise(_ENDING, ending_clauses(text)) for text in said)
        )


def _final(before: FhirStore, written: tuple[Write, ...]) -> Iterator[Write]:
    """Yield the writes that make a difference: an entry that is as it was makes none."""
    last = {(write.resource_type, write.id): write for write in written}
    created = {(w.resource_type, w.id) for w in written if w.kind is WriteKind.CREATE}
    for write in written:
        key = (write.resource_type, write.id)
        changes = write is last[key] and (key in created or not _is_restored(before, write))
        if write.kind is WriteKind.CREATE or changes:
            yield write


def _is_restored(before: FhirStore, write: Write) -> bool:
    original = before.read(write.resource_type, write.id)
    return {**original, "meta": None} == {**write.resource, "meta": None}


def _content(resource: JsonObject, aside: Set[str] = _ASIDE) -> JsonDict:
    """Return what a resource says beside its status."""
    return {key: value for key, value in resource.items() if key not in aside}


def _local(reference: object) -> tuple[str, str] | None:
    """Return the type and id that a reference within this record system names."""
    given = reference.get("reference") if isinstance(reference, dict) else None
    return _named(given) if isinstance(given, str) else None


def _named(reference: str) -> tuple[str, str]:
    kind, _, id_ = reference.removeprefix(BASE_URL).partition("/_history/")[0].partition("/")
    return kind, id_


def _same_drug(one: JsonObject, other: JsonObject) -> bool:
    texts = [concept_text(r.get("medicationCodeableConcept")).strip().lower() for r in (one, other)]
    return bool(texts[0]) and texts[0] == texts[1]


def _names(store: FhirStore, patient: str) -> frozenset[str]:
    """Return the words of a patient's names, lower case."""
    found = store.search("Patient", [("_id", patient)]).resources
    names = [name for person in found for name in person.get("name") or []]
    parts = [
        str(part)
        for name in names
        if isinstance(name, dict)
        for part in (*(name.get("given") or []), name.get("family") or "", name.get("text") or "")
    ]
    return frozenset(word for part in parts for word in part.lower().split())
