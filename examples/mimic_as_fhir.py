"""Write MIMIC-IV's hospital tables (the open demo, or all of it) as a folder of FHIR R4 resources.

    python examples/mimic_as_fhir.py mimic-iv-clinical-database-demo-2.2 OUT
    healthgym show HealthAgent/FhirRecord-v1 --set source=OUT       # what can be asked of it
    healthgym train --source OUT

Written are patients, results of the laboratory, prescriptions and diagnoses. MIMIC has no names and
no birthdays, so nobody is looked up by name and no age is asked: a birth year says neither. Results
of what questions ask about get their LOINC code, all others the number MIMIC has for them.
"""

from __future__ import annotations

import csv
import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path

Row = dict[str, str]

LOINC = "http://loinc.org"
ITEMS = "http://mimic.mit.edu/d_labitems"
#: LOINC codes of blood chemistry, by MIMIC's item.
CODES = {
    **dict.fromkeys(("50931", "52569"), "2345-7"),  # glucose
    **dict.fromkeys(("50971", "52610"), "2823-3"),  # potassium
    "50960": "19123-9",  # magnesium
    "50852": "4548-4",  # HbA1c
    "50993": "3016-3",  # TSH
    "50995": "3024-7",  # free T4
}


def main(source: str, out: str) -> dict[str, int]:
    """Write the folder; return how many resources of each type it has."""
    root, folder = Path(source, "hosp"), Path(out)
    if not (root / "patients.csv.gz").is_file() and not (root / "patients.csv").is_file():
        sys.exit(f"There is no hosp/patients.csv.gz in {source}; name a folder of MIMIC-IV.")
    folder.mkdir(parents=True, exist_ok=True)
    labels = {row["itemid"]: row["label"] for row in table(root, "d_labitems")}
    begun = {row["hadm_id"]: row["admittime"] for row in table(root, "admissions")}
    kinds = {
        "Patient": map(patient, table(root, "patients")),
        "Observation": filter(None, (result(row, labels) for row in table(root, "labevents"))),
        "MedicationRequest": filter(None, map(order, numbered(table(root, "prescriptions")))),
        "Condition": filter(
            None, (diagnosis(r, begun) for r in numbered(table(root, "diagnoses_icd")))
        ),
    }
    counts = {}
    for kind, resources in kinds.items():
        counts[kind] = 0
        with gzip.open(folder / f"{kind}.ndjson.gz", "wt", encoding="utf-8") as file:
            for resource in resources:
                file.write(json.dumps(resource) + "\n")
                counts[kind] += 1
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()), f"written to {folder}")
    return counts


def table(root: Path, name: str) -> Iterator[Row]:
    """Yield the rows of a table, compressed or not."""
    packed = root / f"{name}.csv.gz"
    if packed.is_file():
        with gzip.open(packed, "rt", encoding="utf-8", newline="") as file:
            yield from csv.DictReader(file)
    else:
        with open(root / f"{name}.csv", encoding="utf-8", newline="") as file:
            yield from csv.DictReader(file)


def numbered(rows: Iterator[Row]) -> Iterator[Row]:
    """Yield rows with a number, for tables that have none."""
    for number, row in enumerate(rows, 1):
        yield {**row, "number": str(number)}


def patient(row: Row) -> dict:
    """Return a Patient; of the birth date MIMIC tells about the year."""
    born = int(row["anchor_year"]) - int(row["anchor_age"])
    return {
        "resourceType": "Patient",
        "id": row["subject_id"],
        "gender": {"F": "female", "M": "male"}.get(row["gender"], "unknown"),
        "birthDate": str(born),
        **({"deceasedDateTime": row["dod"]} if row["dod"] else {}),
    }


def result(row: Row, labels: dict[str, str]) -> dict | None:
    """Return a laboratory Observation; none of a row without a number or a time."""
    if not (row["valuenum"] and row["charttime"] and row["subject_id"]):
        return None
    item = row["itemid"]
    loinc = CODES.get(item)
    return {
        "resourceType": "Observation",
        "id": f"lab-{row['labevent_id']}",
        "status": "final",
        "category": [{"coding": [{"code": "laboratory"}]}],
        "code": {
            "coding": [{"system": LOINC if loinc else ITEMS, "code": loinc or item}],
            "text": labels.get(item, item),
        },
        "subject": about(row),
        "effectiveDateTime": moment(row["charttime"]),
        "valueQuantity": {"value": float(row["valuenum"]), "unit": row["valueuom"]},
    }


def order(row: Row) -> dict | None:
    """Return a MedicationRequest; over, where MIMIC says when it stopped."""
    if not (row["drug"] and row["starttime"]):
        return None
    return {
        "resourceType": "MedicationRequest",
        "id": f"order-{row['number']}",
        "status": "completed" if row["stoptime"] else "active",
        "intent": "order",
        "medicationCodeableConcept": {"text": f"{row['drug']} {row['prod_strength']}".strip()},
        "subject": about(row),
        "authoredOn": moment(row["starttime"]),
    }


def diagnosis(row: Row, begun: dict[str, str]) -> dict | None:
    """Return a Condition, dated by the admission that it was coded for."""
    if row["hadm_id"] not in begun:
        return None
    version = {"9": "http://hl7.org/fhir/sid/icd-9-cm", "10": "http://hl7.org/fhir/sid/icd-10-cm"}
    return {
        "resourceType": "Condition",
        "id": f"diagnosis-{row['number']}",
        "code": {"coding": [{"system": version[row["icd_version"]], "code": row["icd_code"]}]},
        "subject": about(row),
        "recordedDate": moment(begun[row["hadm_id"]]),
    }


def about(row: Row) -> dict:
    """Return the reference to a row's patient."""
    return {"reference": f"Patient/{row['subject_id']}"}


def moment(text: str) -> str:
    """Return a time of MIMIC's as FHIR writes it; which zone it was in, MIMIC does not tell."""
    return f"{text.replace(' ', 'T')}+00:00"


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
