"""Serve a synthetic population as a FHIR server, and read it with a plain HTTP client."""

from datetime import UTC, datetime

import httpx

from healthgym.core.clock import Clock
from healthgym.worlds.fhir import FhirStore
from healthgym.worlds.fhir.cohort import population
from healthgym.worlds.fhir.server import serve


def main(records: int = 20_000) -> int:
    """Return how many glucose results the server finds for one patient."""
    now = datetime(2023, 11, 13, 10, 15, tzinfo=UTC)
    base = population(0, now=now, data_bearing=5, patients=30, records=records)
    with serve(FhirStore(base, clock=Clock(now))) as server, httpx.Client() as client:

        def search(**params: str) -> dict:
            return client.get(f"{server.url}/Observation", params=params).json()

        latest = search(code="GLU", _sort="-date", _count="1")["entry"][0]["resource"]
        patient = latest["subject"]["reference"]
        glucose = search(patient=patient, code="GLU", _summary="count")
        print(server.url, patient, glucose["total"])
        return int(glucose["total"])


if __name__ == "__main__":
    main()
