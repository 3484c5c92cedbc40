"""A synthetic hospital: from a seed to eight clean tables."""

from __future__ import annotations

import numpy as np

from healthgym.envs.ehr_data_quality.bedside import chart
from healthgym.envs.ehr_data_quality.catalogue import catalogue
from healthgym.envs.ehr_data_quality.corpus import Corpus, CorpusConfig, chronological
from healthgym.envs.ehr_data_quality.frames import Frame, Text
from healthgym.envs.ehr_data_quality.labs import draw_results
from healthgym.envs.ehr_data_quality.orders import prescribe
from healthgym.envs.ehr_data_quality.people import draw_admissions, draw_icu, draw_people


def build_hospital(config: CorpusConfig, rng: np.random.Generator) -> Corpus:
    """Return the clean tables of a hospital drawn from ``rng``."""
    people = draw_people(config, rng)
    admissions = draw_admissions(people, config, rng)
    stays = draw_icu(people, admissions, config, rng)
    results = draw_results(people, admissions, config, rng)
    charted = chart(people, admissions, stays, results, config, rng)
    orders = prescribe(people, admissions, config, rng)
    known = catalogue()
    frames = {
        "patients": people.frame,
        "admissions": admissions.frame,
        "labevents": chronological(results.frame, time="charttime", rng=rng),
        "prescriptions": chronological(orders, time="starttime", rng=rng),
        "d_labitems": _lab_items(),
        "icustays": stays.frame,
        "chartevents": chronological(charted, time="charttime", rng=rng),
        "d_items": _chart_items(),
    }
    precision = {item.itemid: item.precision for item in known.labs}
    precision |= {item.itemid: item.precision for item in known.charts}
    precision |= {item.itemid: item.precision for item in known.mirrors}
    return Corpus(
        frames,
        precision=precision,
        natural_units={
            item.itemid: frozenset({item.unit, item.other_unit})
            for item in known.labs
            if item.other_unit
        },
    )


def _lab_items() -> Frame:
    items = sorted(catalogue().labs, key=lambda item: item.itemid)
    return Frame(
        {
            "itemid": np.array([item.itemid for item in items]),
            "label": Text.of([item.label for item in items]),
            "fluid": Text.constant("Blood", len(items)),
            "category": Text.of([item.category for item in items]),
        }
    )


def _chart_items() -> Frame:
    known = catalogue()
    rows = [
        (item.itemid, item.label, item.abbreviation, item.category, item.unit,
         "Text" if item.texts else "Numeric")
        for item in known.charts
    ] + [
        (item.itemid, item.label, item.abbreviation, "Labs", item.unit, "Numeric")
        for item in known.mirrors
    ]  # fmt: skip
    rows.sort()
    ids, labels, short, category, units, kinds = zip(*rows, strict=True)
    return Frame(
        {
            "itemid": np.array(ids),
            "label": Text.of(labels),
            "abbreviation": Text.of(short),
            "linksto": Text.constant("chartevents", len(rows)),
            "category": Text.of(category),
            "unitname": Text.of([unit or None for unit in units]),
            "param_type": Text.of(kinds),
        }
    )
