"""Charts with orders and immunizations, and no laboratory."""

from __future__ import annotations

from tests.envs.fhir_record.small_charts import small_patient

UUID = "0000{:04x}-aaaa-4bbb-8ccc-{:012x}"


def order(number: int, name: str, when: str, status: str, key: int) -> dict:
    return {
        "resourceType": "MedicationRequest",
        "id": UUID.format(number, key),
        "status": status,
        "intent": "order",
        "medicationCodeableConcept": {"text": name},
        "subject": {"reference": f"Patient/p{number}"},
        "encounter": {"reference": f"urn:uuid:{UUID.format(number, key + 500)}"},
        "authoredOn": when,
    }


def dose(number: int, code: str, when: str, key: int, status: str = "completed") -> dict:
    return {
        "resourceType": "Immunization",
        "id": UUID.format(number, key + 100),
        "status": status,
        "vaccineCode": {"coding": [{"code": code, "display": "Influenza, seasonal"}]},
        "patient": {"reference": f"Patient/p{number}"},
        "occurrenceDateTime": when,
    }


def charts() -> list[dict]:
    found = []
    for number in range(30):
        found.append(small_patient(number))
        found.append(order(number, "Lisinopril 10 MG", "2019-01-05T08:00:10Z", "stopped", 1))
        found.append(order(number, "Lisinopril 20 MG", "2019-03-05T08:00:20Z", "active", 2))
        found.append(order(number, "Aspirin 81 MG", "2020-03-05T08:00:30Z", "completed", 3))
        if number % 2:
            found.append(order(number, "Warfarin 5 MG", "2020-04-05T08:00:40Z", "active", 4))
            found.append(order(number, "Warfarin 5 MG", "2020-05-05T08:00:50Z", "active", 5))
        found.append(dose(number, "140", "2018-10-01T09:30:15Z", 1))
        found.append(dose(number, "141", "2019-10-01T09:30:15Z", 2))
        found.append(dose(number, "113", "2020-10-01T09:30:15Z", 3))
    return found
