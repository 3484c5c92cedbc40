"""What the applications have in common: a world, and records by id."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar, get_args

from healthgym.core.borders import Json
from healthgym.core.state import Stateful, Table, table
from healthgym.worlds.managed_care.refusals import Refusal, RefusalCode
from healthgym.worlds.managed_care.rules import Rules

if TYPE_CHECKING:
    from healthgym.worlds.managed_care.world import ManagedCareWorld

Record = TypeVar("Record")


class _OfCase(Protocol):
    @property
    def case_id(self) -> str:
        """The case it is about."""


OfCase = TypeVar("OfCase", bound=_OfCase)


class App(Stateful):
    """An application: a small aggregate, part of one world.

    Attributes:
        world: The world it is part of; effects on other applications go through it.
    """

    #: Which table keeps which kind of record; from the declarations.
    keeps: ClassVar[Mapping[type, str]] = {}
    #: Its name in the log.
    name: ClassVar[str] = ""

    world: ManagedCareWorld

    def __init_subclass__(cls, **keywords: object) -> None:
        super().__init_subclass__(**keywords)
        tables = {name: item for name, item in vars(cls).items() if isinstance(item, table)}
        # `table[str, Letter]()` remembers what it was declared with.
        cls.keeps = {get_args(item.__orig_class__)[1]: name for name, item in tables.items()}  # type: ignore[attr-defined]

    def __init__(self, world: ManagedCareWorld) -> None:
        # Past __setattr__, which would make the world a part of its part.
        self.__dict__["world"] = world

    @property
    def strict(self) -> bool:
        """Whether the world keeps its rules strictly."""
        return self.world.rules is Rules.STRICT

    def begin_with(self, kind: type, records: Iterable[object]) -> None:
        """Keep records of a kind that were there before the episode began."""
        kept: Table[str, object] = getattr(self, self.keeps[kind])
        own = self._key(kind)
        kept.put_all({getattr(each, own): each for each in records})

    def held(self, name: str) -> Mapping[str, object]:
        """Return a table to be looked through; none is made where nothing was ever put."""
        found: Mapping[str, object] = self.__dict__.get(name, {})
        return found

    @staticmethod
    def _key(kind: type) -> str:
        # Care management's records name their id after themselves.
        fields: Mapping[str, object] = kind.__dataclass_fields__  # type: ignore[attr-defined]
        return "id" if "id" in fields else next(name for name in fields if name.endswith("_id"))

    def draw_id(self, prefix: str, width: int = 4) -> str:
        """Return the next identifier with a prefix: ``LET-0001``."""
        return f"{prefix}{self.world.counters.draw(prefix):0{width}d}"

    def draw_ids(self, prefix: str, count: int, width: int = 4) -> list[str]:
        """Return the next identifiers with a prefix, as :meth:`draw_id` does one by one."""
        first = self.world.counters.draw_several(prefix, count)
        return [f"{prefix}{number:0{width}d}" for number in range(first, first + count)]

    def audit(self, action: str, case_id: str, actor: str = "", **details: Json) -> None:
        """Note in the log that this application changed something."""
        self.world.history.audit(self.name, action, case_id, actor or self.world.actor, **details)

    def looked(self, action: str, case_id: str = "", actor: str = "") -> None:
        """Note that this application was read."""
        self.world.history.looked(self.name, action, case_id, actor or self.world.actor)


def newest(records: Table[str, OfCase], case_id: str) -> OfCase | None:
    """Return the record of a case that was made last; None if there is none."""
    for record in reversed(records.values()):
        if record.case_id == case_id:
            return record
    return None


def find(
    records: Table[str, Record],
    key: str,
    what: str,
    hint: str,
    shown: Callable[[Record], bool] | None = None,
) -> Record:
    """Return a record by id.

    Args:
        records: Where it is kept.
        key: Its id.
        what: What it is, for the sentence: ``letter``.
        hint: Where ids are found: ``payer_letter_center.list names them``.
        shown: Tells whether whoever asks sees a record; one that is not seen is not there.

    Raises:
        Refusal: If there is none.
    """
    found = records.get(key)
    if found is None or not (shown is None or shown(found)):
        raise Refusal(RefusalCode.NOT_FOUND, f"There is no {what} {key[:60]!r}; {hint}.")
    return found
