"""Few rows that hold every pair of values which a table allows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import combinations, product

#: A value of a dimension.
Item = tuple[str, object]
#: What is true of a row, or of a part of it.
Row = Mapping[str, object]
Pair = frozenset[Item]


def pairs(row: Row) -> Iterator[Pair]:
    """Yield the pairs of values of a row."""
    yield from map(frozenset, combinations(row.items(), 2))


def possible(table: Sequence[Row], free: Mapping[str, Sequence[object]]) -> set[Pair]:
    """Return the pairs that can be.

    Args:
        table: The rows of the dimensions that depend on each other.
        free: The values of those that go with anything.
    """
    found = {pair for row in table for pair in pairs(row)}
    items = {item for row in table for item in row.items()}
    loose = [[(name, value) for value in values] for name, values in free.items()]
    found |= {frozenset(pair) for values in loose for pair in product(items, values)}
    return found | {
        frozenset(pair) for one, other in combinations(loose, 2) for pair in product(one, other)
    }


def covering(table: Sequence[Row], free: Mapping[str, Sequence[object]]) -> list[Row]:
    """Return rows that together hold every pair that can be: always the one that adds most.

    Args:
        table: The rows of the dimensions that depend on each other.
        free: The values of those that go with anything.
    """
    left = possible(table, free)
    # What a row adds grows less and less, so that who leads by what it adds now is the best.
    heap = [(-len(left), place) for place in range(len(table))]
    heapify(heap)
    chosen: list[Row] = []
    while left:
        _, place = heappop(heap)
        row = _filled(table[place], free, left)
        adds = len(left.intersection(pairs(row)))
        if heap and -adds > heap[0][0]:
            heappush(heap, (-adds, place))
            continue
        chosen.append(row)
        left.difference_update(pairs(row))
        heappush(heap, (-adds, place))
    return chosen


def _filled(row: Row, free: Mapping[str, Sequence[object]], left: set[Pair]) -> Row:
    """Return a row with the values of the free dimensions that add most, one after the other."""
    filled = dict(row)
    for name, values in free.items():
        filled[name] = max(values, key=lambda value: _new((name, value), filled.items(), left))
    return filled


def _new(item: Item, others: Iterable[Item], left: set[Pair]) -> int:
    return sum(frozenset((item, other)) in left for other in others)
