"""Whether a written resource is the order that a rule asks for, and nothing else besides."""

from healthgym.envs.fhir_record.orders.reading import faults, identifies, is_about
from healthgym.envs.fhir_record.orders.words import is_one_of

__all__ = ["faults", "identifies", "is_about", "is_one_of"]
