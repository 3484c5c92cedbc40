"""An embedded FHIR R4 record system: charts in columns, search, writes in an overlay."""

from healthgym.worlds.fhir.base import Base
from healthgym.worlds.fhir.charts import ChartBuilder
from healthgym.worlds.fhir.columns import ColumnBase
from healthgym.worlds.fhir.documents import DocumentBase
from healthgym.worlds.fhir.errors import FhirError
from healthgym.worlds.fhir.records import RecordStore, SearchResult, Write, WriteKind
from healthgym.worlds.fhir.shapes import Address
from healthgym.worlds.fhir.store import FhirStore
from healthgym.worlds.fhir.validate import R4Compat, ValidationLevel
from healthgym.worlds.fhir.world import FhirWorld

__all__ = [
    "Address",
    "Base",
    "ChartBuilder",
    "ColumnBase",
    "DocumentBase",
    "FhirError",
    "FhirStore",
    "FhirWorld",
    "R4Compat",
    "RecordStore",
    "SearchResult",
    "ValidationLevel",
    "Write",
    "WriteKind",
]
