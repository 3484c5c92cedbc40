"""A toolset with every shape a declaration can have: records, unions, dates, bounds, names."""

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

import gymnasium as gym
from pydantic import BaseModel, ConfigDict, Field, model_validator

from healthgym.core.catalog import ToolCatalog
from healthgym.core.env import HealthEnv
from healthgym.core.family import EpisodeConfig, single
from healthgym.core.tool import ToolKind, Toolset, tool
from healthgym.errors import ToolError
from healthgym.rewards import resolve
from tests.core.toys import Ledger, LedgerWorld

DESK_ID = "ToyDesk-v0"


class Shelf(StrEnum):
    OPEN = "open"
    LOCKED = "locked"


class Record(BaseModel):
    """A record.

    Attributes:
        note: Free text, e.g. "fragile".
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    note: str = ""


class Page(Record):
    """A page of a document.

    Attributes:
        number: Number of the page, from 1.
        scanned: Day it was scanned,
            e.g. "2026-03-13".
    """

    number: Annotated[int, Field(ge=1, le=999)]
    scanned: date | None = None


class Document(Record):
    """A document.

    It has pages.
    """

    title: str = Field(description="Its title.", min_length=1, max_length=20)
    shelf: Shelf = Field(Shelf.OPEN, description="Where it lies.")
    pages: list[Page] = Field(default_factory=list, description="Its pages.", max_length=3)
    class_: str = Field("b", alias="class", description="Its class.", pattern="^[a-c]$")

    @model_validator(mode="after")
    def _numbered(self) -> "Document":
        if len({page.number for page in self.pages}) < len(self.pages):
            raise ValueError("two pages have one number")
        return self


@dataclass(frozen=True)
class Packet:
    """Documents sent together.

    Attributes:
        documents: What is sent.
        sent: When it was sent, e.g. "2026-03-13T09:00:00Z".
        weights: Weight of each piece in g, by its name.
    """

    documents: Annotated[list[Document], Field(min_length=1)]
    sent: datetime
    weights: dict[str, Annotated[float, Field(gt=0)]] | None = None

    def __post_init__(self) -> None:
        if len(self.documents) > 2:
            raise ToolError("a packet holds two documents")


class Call(Record):
    """A call on the telephone."""

    kind: Literal["call"] = Field("call", description="What it was.")
    minutes: Annotated[int, Field(description="How long it took.", ge=0, multiple_of=5)]


class Visit(Record):
    """A visit."""

    kind: Literal["visit", "house call"] = Field(description="What it was.")
    page: Page | None = Field(None, description="What was brought.")


Contact = Annotated[Call | Visit, Field(discriminator="kind")]


class DeskTools(Toolset[LedgerWorld]):
    namespace = "desk"

    @tool(ToolKind.WRITE)
    def send(self, packet: Packet, copies: Annotated[int, Field(ge=1, le=10)] = 1) -> str:
        """Send a packet.

        Args:
            packet: What to send.
            copies: How many, from 1 to 10.
        """
        self.world.notes.append((str(copies), repr(packet)))
        return f"{copies} of {len(packet.documents)}"

    @tool(ToolKind.WRITE)
    def log(self, contact: Contact, others: list[Contact] | None = None) -> str:
        """Log a contact.

        Args:
            contact: The contact.
            others: Further ones.
        """
        self.world.notes.append((repr(contact), repr(others)))
        return contact.kind

    @tool(ToolKind.READ, name="list")
    def list_(
        self,
        class_: Annotated[str | None, Field(alias="class", max_length=3)] = None,
        from_: Annotated[date | None, Field(alias="from")] = None,
        share: Annotated[float, Field(gt=0, lt=1)] = 0.5,
        shelf: Literal[Shelf.OPEN] | None = None,
    ) -> str:
        """List the documents.

        Args:
            class_: Class of the documents.
            from_: Oldest day.
            share: How many of them.
            shelf: Shelf to look at.
        """
        return f"{class_} {from_} {share} {shelf}"

    @tool(ToolKind.SUBMIT, name="office.continue")
    def continue_(self, answer: Any) -> str:
        """Go on.

        Args:
            answer: Anything.
        """
        return "ok"


CATALOG = ToolCatalog([DeskTools])
SPECS = {spec.name: spec for spec in CATALOG.specs}

PACKET: dict[str, Any] = {
    "documents": [{"title": "A", "pages": [{"number": 1, "scanned": "2026-03-13"}], "class": "a"}],
    "sent": "2026-03-13T09:00:00Z",
}


class Desk(Ledger):
    roles = single(DeskTools)


def make_desk(split: str = "train") -> HealthEnv:
    return HealthEnv(Desk(), resolve("sparse"), split=split, config=EpisodeConfig(max_turns=6))


if DESK_ID not in gym.registry:
    gym.register(id=DESK_ID, entry_point="tests.core.desk:make_desk")
