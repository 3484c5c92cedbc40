"""FHIR R4 search: parameters as a table, values out of resources, conditions on values."""
