"""Questions and orders over a FHIR record system: MedAgentBench v1, v2 and v3."""
