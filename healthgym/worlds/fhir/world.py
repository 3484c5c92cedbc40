"""The world of one episode over a FHIR record system."""

from __future__ import annotations

from healthgym.core.clock import Clock
from healthgym.core.state import state
from healthgym.core.world import World
from healthgym.worlds.fhir.base import Base
from healthgym.worlds.fhir.store import DEFAULT_PAGE_SIZE, FhirStore
from healthgym.worlds.fhir.validate import R4Compat, ValidationLevel


class FhirWorld(World):
    """A record store and a clock.

    Args:
        base: The chart; shared between worlds.
        clock: Start of the episode; the world keeps this object and advances it.
        validation: How strictly writes are checked.
        page_size: Matches per page when a search does not say.
        compat: Exceptions from strict validation.

    Attributes:
        store: The record system.
        open_patient: Id of the patient whose chart is open, as on a clinician's screen; empty if
            none is. It is where somebody looks, not what the record holds.
    """

    open_patient = state("", content=False)

    def __init__(
        self,
        base: Base,
        clock: Clock,
        *,
        validation: ValidationLevel = ValidationLevel.STRUCTURAL,
        page_size: int = DEFAULT_PAGE_SIZE,
        compat: R4Compat = R4Compat(),  # noqa: B008 -- frozen
    ) -> None:
        self.clock = clock
        self.store = FhirStore(
            base, clock=clock, validation=validation, page_size=page_size, compat=compat
        )
