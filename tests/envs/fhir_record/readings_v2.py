"""An independent reading of a chart for each v2 task type, straight off the JSON."""

from __future__ import annotations

from datetime import datetime, timedelta

from tests.envs.fhir_record.kinds_v2 import DAY


def rows(view, kind, facts, **wanted):
    found = view.search(kind, patient=facts.patient)
    return [r for r in found if all(r.get(key) == value for key, value in wanted.items())]


def code_of(resource):
    return resource["code"].get("coding", [{}])[0].get("code")


def moment(text):
    return datetime.fromisoformat(text)


def measured(view, facts, code):
    """Return (time, value) of a test up to now, oldest first."""
    found = [
        (moment(r["effectiveDateTime"]), r["valueQuantity"]["value"])
        for r in rows(view, "Observation", facts)
        if code_of(r) == code and moment(r["effectiveDateTime"]) <= facts.now
    ]
    return sorted(found)


def done(view, facts, *codes):
    """Return the times of procedures of some codes up to now, sorted."""
    times = [
        moment(r["performedDateTime"])
        for r in rows(view, "Procedure", facts)
        if code_of(r) in codes
    ]
    return sorted(time for time in times if time <= facts.now)


def prescribed(view, facts, words, status="active"):
    """Return the orders of a status that name one of the words, oldest first."""
    found = rows(view, "MedicationRequest", facts, status=status)
    named = [
        r
        for r in found
        if any(w in r["medicationCodeableConcept"]["text"].lower().split() for w in words)
    ]
    return sorted(named, key=lambda r: r["authoredOn"])


def when(times):
    return times[-1] if times else -1


def ct_follow_up(view, facts):
    times = done(view, facts, "IMGCT0491", "IMGIL0001")
    due = not times or facts.now - times[-1] > 365 * DAY
    return [when(times)], {"ct"} if due else set(), 0


def prophylaxis(view, facts):
    words = "heparin enoxaparin dalteparin fondaparinux apixaban rivaroxaban dabigatran warfarin"
    orders = prescribed(view, facts, words.split())
    orders = [o for o in orders if "FLUSH" not in o["medicationCodeableConcept"]["text"]]
    right = [
        o
        for o in orders
        if o["medicationCodeableConcept"]["text"].startswith("HEPARIN")
        and o["dosageInstruction"][0]["route"]["text"] == "Subcutaneous"
        and o["dosageInstruction"][0]["timing"]["code"]["text"] == "Q8H"
    ]
    kept = moment(right[-1]["authoredOn"]) if right else -1
    stops = len(orders) - bool(right)
    return [len(orders), kept], set() if right else {"heparin"}, stops


def heart_rate(view, facts):
    found = measured(view, facts, "HEARTRATE")
    means = []
    for hours in (6, 12):
        values = [v for t, v in found if facts.now - t <= timedelta(hours=hours)]
        means.append(sum(values) / len(values) if values else -1)
    return means, set(), 0


def catheter(view, facts):
    times = done(view, facts, "NUR1373")
    removals = [
        r for r in rows(view, "ServiceRequest", facts, status="active") if code_of(r) == "NUR1373"
    ]
    due = times and facts.now - times[-1] > 2 * DAY and not removals
    return [when(times)], {"removal"} if due else set(), 0


def kidney(view, facts):
    known = any(code_of(r) == "C64.2" for r in rows(view, "Condition", facts))
    times = done(view, facts, "IMGCT0491", "IMGIL0001", "74177")
    due = known and (not times or facts.now - times[-1] > 90 * DAY)
    return [int(known), when(times)], {"ct", "referral"} if due else set(), 0


def thyroid(view, facts):
    tsh, ft4 = measured(view, facts, "TSH"), measured(view, facts, "FT4")
    newest = [found[-1][1] if found else -1 for found in (tsh, ft4)]
    high = [time for time, value in tsh if value > 10]
    both = {"tsh_repeat", "ft4_repeat"}
    if any(b - a >= 30 * DAY for a in high for b in high):
        return newest, both | {"levothyroxine"}, 0
    watch = tsh and 4.5 <= newest[0] <= 10 and 0.8 <= newest[1] <= 1.8
    return newest, both if watch else set(), 0


def qtc(view, facts):
    found = measured(view, facts, "QTCINTERVAL")
    if not found or found[-1][1] <= 500:
        return [found[-1][1] if found else -1], set(), 0
    words = "ondansetron prochlorperazine haloperidol quetiapine olanzapine risperidone"
    words += " ziprasidone clozapine chlorpromazine"
    return [found[-1][1]], {"ecg"}, len(prescribed(view, facts, words.split()))


def naloxone(view, facts):
    texts = [
        r["medicationCodeableConcept"]["text"]
        for r in rows(view, "MedicationRequest", facts, status="active")
    ]
    words = ("HYDROMORPHONE", "OXYCODONE", "FENTANYL", "HYDROCODONE", "MORPHINE")
    opioids = [text for text in texts if text.startswith(words)]
    covered = any(text.startswith(("NALOXONE", "NARCAN")) for text in texts)
    return [len(opioids)], {"naloxone"} if opioids and not covered else set(), 0


def influenza(view, facts):
    times = done(view, facts, "90686")
    due = not times or facts.now - times[-1] > 365 * DAY
    return [when(times)], {"vaccine"} if due else set(), 0


def covid(view, facts):
    times = done(view, facts, "COVIDVACCINE")
    times += [
        moment(r["authoredOn"])
        for r in rows(view, "MedicationRequest", facts, status="completed")
        if r["medicationCodeableConcept"]["text"].startswith("COVID-19 VAC")
    ]
    times = sorted(time for time in times if time <= facts.now)
    due = not times or (facts.now.date() - times[-1].date()).days > 365
    return [when(times)], {"vaccine"} if due else set(), 0


READINGS = {
    "v2-t1": ct_follow_up,
    "v2-t2": prophylaxis,
    "v2-t3": heart_rate,
    "v2-t4": catheter,
    "v2-t5": kidney,
    "v2-t6": thyroid,
    "v2-t7": qtc,
    "v2-t8": naloxone,
    "v2-t9": influenza,
    "v2-t10": covid,
}
