"""The tables of intensive care: stays, charted values, outputs, infusions, procedures."""

from __future__ import annotations

from healthgym.worlds.etl.extract import DAY, Extract, time_text


def add_intensive_stay(
    extract: Extract, who: tuple[int, int], start: int, end: int, sure: bool
) -> None:
    """Add an intensive care stay within a hospital stay.

    Args:
        extract: Where the rows go.
        who: Ids of the patient and of the hospital stay.
        start: Minute the hospital stay begins.
        end: Minute it ends.
        sure: Whether each table gets a row.
    """
    stay = (*who, extract.next_id())
    begin = extract.within(start, (start + end) // 2)
    leave = extract.within(begin + 60, end + 61)
    first, last = extract.word("units"), extract.word("units")
    los = f"{(leave - begin) / DAY:.4f}"
    extract.add("icu/icustays", *stay, first, last, time_text(begin), time_text(leave), los)
    for _ in range(6 + extract.count(30)):
        item, (_, unit, low, high) = extract.one(extract.items["vitals"])
        minute = extract.within(begin, leave)
        value, number = extract.reading(low, high)
        extract.add(
            "icu/chartevents",
            *stay,
            time_text(minute),
            extract.later(minute, 90),
            item,
            value,
            number,
            unit,
        )
    for _ in range(1 + extract.count(3)):
        item, (_, unit, low, high) = extract.one(extract.items["outputs"])
        minute = extract.within(begin, leave)
        extract.add(
            "icu/outputevents",
            *stay,
            time_text(minute),
            extract.later(minute, 60),
            item,
            extract.within(int(low), int(high)),
            unit,
        )
    for _ in range(1 + sure + extract.count(3)):
        _add_infusion(extract, stay, begin, leave)
    for _ in range(sure + extract.count(1)):
        item, (_, place) = extract.one(extract.items["procedures"])
        minute = extract.within(begin, leave)
        until = extract.within(minute, leave)
        extract.add(
            "icu/procedureevents",
            *stay,
            time_text(minute),
            time_text(until),
            extract.later(minute, 90),
            item,
            until - minute,
            "min",
            place,
        )
    for _ in range(sure + extract.count(1)):
        item, _ = extract.one(extract.items["datetimes"])
        minute = extract.within(begin, leave)
        extract.add(
            "icu/datetimeevents",
            *stay,
            time_text(minute),
            extract.later(minute, 90),
            item,
            time_text(minute - extract.within(60, 2000)),
            "Date and Time",
        )


def _add_infusion(extract: Extract, stay: tuple[int, ...], begin: int, leave: int) -> None:
    item, (_, unit, low, high) = extract.one(extract.items["infusions"])
    minute = extract.within(begin, leave)
    until = extract.within(minute, leave)
    order, running = extract.next_id(), extract.uniform() < 0.7
    rate = f"{extract.between(low, high):.2f}" if running else ""
    extract.add(
        "icu/inputevents",
        *stay,
        time_text(minute),
        time_text(until),
        extract.later(minute, 60),
        item,
        f"{extract.between(1, 500):.1f}",
        unit,
        rate,
        f"{unit}/hour" if running else "",
        order,
        order,
        "Continuous IV" if running else "Drug Push",
        f"{extract.between(45, 120):.1f}",
        extract.one(("FinishedRunning", "Changed")),
    )
