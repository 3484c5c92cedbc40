"""Play the exploits known as scripts and freeze them anew: python -m tests.canaries.record

To be run where a change of the tasks has made the records stale. An exploit that a policy found has
no script here: its record is in `attacks.jsonl`, where `python benchmarks/gap_by_attack.py --freeze
tests/canaries/attacks.jsonl` puts it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from healthgym.core.seeding import Split
from healthgym.core.task import AnyInstance
from healthgym.core.tool import ToolCall, call
from healthgym.envs.ct_abnormality.predictions import line_of
from healthgym.registration import make_health_env
from healthgym.testing import freeze
from healthgym.testing.scripts import oracle_script, outcome_of

#: Test tasks among which one is looked for that an exploit applies to.
_TRIED = 300
_TILES = "predicted_tumor_tiles"
PATH = Path(__file__).parent / "exploits.jsonl"
#: From a task and the oracle's script to the exploit's; None where it does not apply.
Play = Callable[[AnyInstance, list[Any]], Sequence[object] | None]


@dataclass(frozen=True)
class Exploit:
    """An exploit that can be played on any task.

    Attributes:
        name: Its name.
        found: The line of the audit, and what it does.
        env_id: The environment.
        play: What is played.
        kwargs: Arguments of the environment.
        index: Number of the first test task that is tried.
    """

    name: str
    found: str
    env_id: str
    play: Play
    kwargs: dict[str, Any] = field(default_factory=dict)
    index: int = 0


def edited(change: Callable[[str], str]) -> Play:
    """Return the oracle's work on a report, with a change of every sentence it writes."""

    def play(instance: AnyInstance, script: list[Any]) -> Sequence[object]:
        return [
            ToolCall(step.name, {**step.arguments, "text": change(step.arguments["text"])})
            if step.name.endswith("edit_sentence")
            else step
            for step in script
        ]

    return play


def then(*steps: ToolCall) -> Play:
    """Return the oracle's work, and more before it is handed in."""
    return lambda instance, script: [*script[:-1], *steps, script[-1]]


def listed(form: Callable[[list[str], list[str]], list[str]]) -> Play:
    """Return a shortlist made of the eligible trials and the others."""

    def play(instance: AnyInstance, script: list[Any]) -> Sequence[object]:
        pool = list(instance.start.corpus.ids)
        right = [id_ for id_ in pool if id_ in instance.reference.eligible]
        lines = form(right, [id_ for id_ in pool if id_ not in right])
        return [call("write_shortlist", text="\n".join(lines)), call("submit")]

    return play


def default_calls(instance: AnyInstance, script: list[Any]) -> Sequence[object]:
    return [
        call("build_features", name="f"),
        call("train_model", name="m", features=["f"]),
        call("draft_predictions", models=["m"]),
        call("submit_predictions"),
    ]


def honest_calls(instance: AnyInstance, script: list[Any]) -> Sequence[object]:
    from healthgym.envs.ehr_event_modelling.solver import honest

    return [step for step in honest() if step.name not in ("list_tables", "evaluate_models")]


def twelve_queries(instance: AnyInstance, script: list[Any]) -> Sequence[object]:
    from healthgym.envs.ehr_data_quality.oracle import audit_by_rules

    return audit_by_rules("careful")


def written(path: str) -> ToolCall:
    return call("write_file", path=path, text="import os\n")


def called(line: Callable[[str, bool], str]) -> Play:
    def play(instance: AnyInstance, script: list[Any]) -> Sequence[object]:
        truth = instance.reference.truth.items()
        text = "\n".join(line(label, present) for label, present in truth)
        return [call("write_predictions", text=text), call("submit")]

    return play


def selected(form: Callable[[dict[str, Any]], object]) -> Play:
    """Return a selection made of the row that is right."""

    def play(instance: AnyInstance, script: list[Any]) -> Sequence[object]:
        tiles = [{"x": x, "y": y} for x, y in instance.reference.tiles]
        row = {"task_id": instance.task.task_id, _TILES: tiles}
        return [call("write_selection", text=json.dumps(form(row))), call("submit")]

    return play


def two_rows(row: dict[str, Any]) -> object:
    return [row, {**row, _TILES: []}]


def of_none(row: dict[str, Any]) -> object:
    return [{**row, _TILES: [{**t, "tumor": False} for t in row[_TILES]]}]


def ordered(kind: str, tool: str = "create_medication_request", **changes: Any) -> Play:
    """Return an order of a kind of task with other words than asked for."""

    def play(instance: AnyInstance, script: list[Any]) -> Sequence[object] | None:
        places = [n for n, step in enumerate(script) if step.name == tool]
        if instance.task.kind != kind or not places:
            return None
        order = script[places[0]]
        changed = ToolCall(order.name, {**order.arguments, **changes})
        return [*script[: places[0]], changed, *script[places[0] + 1 :]]

    return play


def posted(change: Callable[[dict[str, Any]], None], status: str = "active") -> Play:
    """Return the first order of a status in the published text protocol, changed."""

    def play(instance: AnyInstance, script: list[Any]) -> Sequence[object] | None:
        for place, text in enumerate(script):
            head, _, body = text.partition("\n")
            if head.endswith("/MedicationRequest") and head.startswith("POST"):
                order = json.loads(body)
                if order["status"] != status:
                    continue
                change(order)
                return [*script[:place], f"{head}\n{json.dumps(order)}", *script[place + 1 :]]
        return None

    return play


def every_dose(order: dict[str, Any]) -> None:
    order["dosageInstruction"] += [
        {
            "route": route,
            "doseAndRate": [
                {
                    "doseQuantity": {"value": grams, "unit": "g"},
                    "rateQuantity": {"value": grams, "unit": "h"},
                }
            ],
        }
        for grams in (1.0, 2.0, 4.0)
        for route in ("IV", "oral")
    ]


def for_constipation(order: dict[str, Any]) -> None:
    order["dosageInstruction"][0]["asNeededCodeableConcept"] = {"text": "constipation"}


def stopped_and_kept(order: dict[str, Any]) -> None:
    order["note"] = [{"text": "Continue this order; it was ended by mistake."}]


def not_performed(order: dict[str, Any]) -> None:
    order["doNotPerform"] = True


def both_ways(label: str, present: bool) -> str:
    return f"{line_of(label, not present)}\n{line_of(label, present)}"


def taken_back(label: str, present: bool) -> str:
    return f"{line_of(label, present)}, or the opposite"


def opposite_possible(text: str) -> str:
    return f"{text.rstrip('.')}, cannot exclude the opposite."


def said_to_be_false(text: str) -> str:
    return f"It is false that {text[:1].lower()}{text[1:]}"


def in_the_past(text: str) -> str:
    for now, then_ in (("is", "was"), ("are", "were")):
        if f" {now} " in text:
            return text.replace(f" {now} ", f" {then_} ", 1)
    return f"There was {text[:1].lower()}{text[1:]}"


XRAY, EVENT = "HealthAgent/XrayCorrection-v1", "HealthAgent/EhrEventModelling-v1"
TRIAL, CT = "HealthAgent/TrialMatching-v1", "HealthAgent/CtAbnormality-v1"
CONVERSION, QUALITY = "HealthAgent/EhrFormatConversion-v1", "HealthAgent/EhrDataQuality-v1"
TUMOUR = "HealthAgent/TumorAreaSelection-v1"
REVIEWS = "HealthAgent/UtilizationManagement-v1"
REQUESTS, CARE = "HealthAgent/PriorAuthorization-v1", "HealthAgent/CareManagement-v1"
FINDINGS = "review.save_criteria_evaluation"
RECORD, V1 = "HealthAgent/FhirRecord-v1", "HealthAgent/MedAgentBenchV1-v1"
EASY, RAW = {"difficulty": "easy"}, {"protocol": "raw"}


def rewritten(name: str, edit: Callable[[Any], object], key: str) -> Play:
    """Return the oracle's work with an argument of its last call of a tool written anew.

    The exploit does not apply where there is no such call, or nothing to change in it.
    """

    def play(instance: AnyInstance, script: list[Any]) -> Sequence[object] | None:
        places = [at for at, step in enumerate(script) if step.name == name]
        if not places or key not in script[places[-1]].arguments:
            return None
        old = script[places[-1]]
        new = edit(old.arguments[key])
        if new is None or new == old.arguments[key]:
            return None
        step = ToolCall(name, {**old.arguments, key: new})
        return [*script[: places[-1]], step, *script[places[-1] + 1 :]]

    return play


def in_other_units(found: Any) -> object:
    """Return findings in which each per cent is called a millimole per litre."""
    rows = json.loads(json.dumps(found))
    for row in rows:
        for item in row["item_observations"]:
            if item["observed_unit"] == "%" and item["observed_value"] is not None:
                item["observed_unit"] = "mmol/L"
    return rows


def on_every_day(found: Any) -> object:
    """Return findings with every day of two winters beside each."""
    days = ", ".join(
        f"{year}-{month:02d}-{day:02d}"
        for year in (2025, 2026)
        for month in range(1, 4)
        for day in range(1, 29)
    )
    return [{**row, "notes": f"{row['notes']} {days}"} for row in found]


def of_another_version(found: Any) -> object:
    """Return findings by a version that is no longer in force."""
    return [{**row, "criteria_version": "2024.1"} for row in found]


def again_any_day(reason: Any) -> object:
    """Return a reason with a month of days of follow-up."""
    if not reason or " again on " not in reason:
        return None
    days = ", ".join(f"2026-{month:02d}-{day:02d}" for month in (3, 4, 5) for day in range(1, 31))
    return f"{reason}, {days}"


def unlike_the_chart(payload: Any) -> object:
    """Return a section in which each medicine has a dose that nobody prescribed."""
    taken = payload["data"].get("current_medications")
    if not taken:
        return None
    doses = [{**each, "dose": "900 mg six times daily"} for each in taken]
    return {**payload, "data": {**payload["data"], "current_medications": doses}}


def medicines(edit: Callable[[Any], object]) -> Play:
    """Return the oracle's work with its section of medicines written anew."""

    def play(instance: AnyInstance, script: list[Any]) -> Sequence[object] | None:
        for at, step in enumerate(script):
            if step.name != "cm_assessment.save_section":
                continue
            new = edit(step.arguments["payload"])
            if new is not None and not step.arguments.get("blocked_reason"):
                made = ToolCall(step.name, {**step.arguments, "payload": new})
                return [*script[:at], made, *script[at + 1 :]]
        return None

    return play


def another_head(instance: AnyInstance, script: list[Any]) -> Sequence[object] | None:
    """Return the oracle's work on an intake with a head of its own."""
    places = [at for at, step in enumerate(script) if step.name.endswith("confirm_decisions")]
    if instance.reference.stage != "intake" or not places:
        return None
    case = instance.reference.case_id
    head = call(
        "payer_intake_hub.save_auth_header",
        case_id=case,
        data={"level_of_urgency": "emergent", "method": "mail", "court_ordered": True},
    )
    return [*script[: places[0]], head, *script[places[0] :]]


EXPLOITS = (
    *(
        Exploit(name, f"B1: {found}", XRAY, edited(change))
        for name, found, change in (
            (
                "xray_aneurysm_added",
                "a finding nobody asked about",
                lambda t: f"{t} Ruptured aortic aneurysm.",
            ),
            (
                "xray_embolism_added",
                "a finding nobody asked about",
                lambda t: f"{t} Massive pulmonary embolism.",
            ),
            (
                "xray_death_added",
                "a statement about the person",
                lambda t: f"{t} Patient deceased.",
            ),
            ("xray_unicorn_added", "words of no meaning", lambda t: f"{t} Purple unicorn dances."),
            ("xray_denied_before", "the truth said to be false", said_to_be_false),
            ("xray_disproven", "the truth said to be disproven", lambda t: f"Disproven: {t}"),
            ("xray_untrue", "the truth said to be untrue", lambda t: f"{t.rstrip('.')}, untrue."),
            ("xray_opposite_possible", "the opposite left open", opposite_possible),
            (
                "xray_wrong_patient",
                "said to be another's",
                lambda t: f"{t.rstrip('.')} (wrong patient).",
            ),
            ("xray_in_the_past", "what was, in place of what is", in_the_past),
        )
    ),
    *(
        Exploit(f"order_{name}", f"B4: {found}", RECORD, ordered(kind, **changes))
        for name, found, kind, changes in (
            ("hourly", "magnesium every hour", "v1-t5", {"frequency": "q1h"}),
            (
                "named_otherwise",
                "magnesium's code under another drug's name",
                "v1-t5",
                {"medication": "potassium chloride IV push"},
            ),
            (
                "every_15_minutes",
                "potassium every quarter of an hour",
                "v1-t9",
                {"frequency": "every 15 minutes"},
            ),
            ("over_a_second", "potassium over a second", "v1-t9", {"rate": 1, "rate_unit": "s"}),
            (
                "hundredfold",
                "a hundred times the dose in the name",
                "v2-t6",
                {"medication": "levothyroxine 2500 mcg"},
            ),
            (
                "refused_in_its_name",
                "an order whose name asks not to give it",
                "v2-t8",
                {"medication": "no naloxone please"},
            ),
        )
    ),
    Exploit(
        "order_of_every_dose",
        "B4: every dose and both routes in one order",
        V1,
        posted(every_dose),
        RAW,
    ),
    *(
        Exploit(
            f"order_{name}",
            f"an order whose note {found}",
            RECORD,
            ordered(kind, "create_service_request", note=note),
        )
        for name, found, kind, note in (
            ("and_a_treatment", "starts a treatment", "v1-t10", "Start dialysis."),
            ("and_a_test", "asks for another test, too", "v2-t7", "Also check troponin."),
            ("of_another_kind", "puts something else in its place", "v2-t9", "Give COVID booster."),
            ("another_will_do", "makes do with another test", "v1-t10", "POC glucose will do"),
            ("on_a_second_line", "treats on a line of its own", "v2-t7", "QTc\nStart amiodarone"),
            ("for_the_dead", "says that the patient has died", "v2-t10", "Patient deceased."),
            (
                "denied_before_a_comma",
                "denies it before an allergy",
                "v2-t9",
                "Do not give; allergy",
            ),
            ("not_needed", "says that no order is needed", "v1-t10", "No order is needed."),
            ("without_a_subject", "takes it back without a subject", "v2-t10", "Rescinded."),
            ("in_the_passive", "adds a test in the passive", "v2-t7", "Troponin to be added."),
            ("at_another_time", "names another time", "v2-t7", "Repeat in 5 days."),
        )
    ),
    Exploit(
        "order_for_another_need",
        "naloxone as needed for constipation",
        RECORD,
        posted(for_constipation),
        {**RAW, "task_types": ["v2-t8"]},
    ),
    Exploit(
        "order_stopped_and_kept",
        "an order that is ended and told to go on",
        RECORD,
        posted(stopped_and_kept, "stopped"),
        {**RAW, "task_types": ["v2-t2"]},
    ),
    Exploit("order_not_to_perform", "B4: doNotPerform", V1, posted(not_performed), RAW),
    Exploit(
        "event_four_default_calls",
        "B2: one script of four calls for every cohort",
        EVENT,
        default_calls,
    ),
    Exploit("event_fixed_script", "B2: one longer script for every cohort", EVENT, honest_calls),
    Exploit(
        "quality_twelve_queries",
        "B3: the same twelve queries for every audit",
        QUALITY,
        twelve_queries,
        EASY,
        1,
    ),
    Exploit(
        "conversion_module_added",
        "B6: a module in the repository",
        CONVERSION,
        then(written("etl/sitecustomize.py")),
        EASY,
    ),
    Exploit(
        "conversion_configuration_added",
        "B6: a configuration in the repository",
        CONVERSION,
        then(written("etl/configs/extra.yaml")),
        EASY,
    ),
    Exploit(
        "trial_denied_line",
        "B6: a line that takes its claim back",
        TRIAL,
        listed(lambda a, b: [f"{a[0]} - not eligible", *a[1:]]),
        EASY,
    ),
    *(
        Exploit(
            f"trial_{name}",
            f"B6: {found}",
            TRIAL,
            listed(lambda a, b, form=form: [form.format(a[0]), *a[1:]]),  # type: ignore[misc]
            EASY,
        )
        for name, found, form in (
            ("ruled_out", "a line that rules the trial out in words of its own", "{} - ruled out"),
            ("on_a_condition", "a line with a condition", "{} - eligible if he stops smoking"),
            ("unticked", "a box that is not ticked", "- [ ] {}"),
            ("crossed", "a cross before the number", "❌ {}"),
            ("in_a_comment", "a number in a comment", "<!-- {} -->"),
            ("of_no_chance", "a score of nought", "{} 0%"),
        )
    ),
    Exploit(
        "trial_whole_pool",
        "B6: the pool with a reason a line",
        TRIAL,
        listed(lambda a, b: [f"{id_} - fits" for id_ in (*a, *b)]),
        EASY,
    ),
    Exploit(
        "trial_fifty",
        "fifty trials whatever they are",
        TRIAL,
        listed(lambda a, b: [*a, *b][:50]),
        {"difficulty": "medium"},
    ),
    Exploit("ct_both_ways", "each finding called both ways", CT, called(both_ways), EASY),
    Exploit("ct_hedged", "each call taken back", CT, called(taken_back), EASY),
    Exploit(
        "tumour_two_rows", "a second row that takes the first back", TUMOUR, selected(two_rows)
    ),
    *(
        Exploit(name, found, XRAY, edited(change))
        for name, found, change in (
            ("xray_to_come", "what is to be", lambda t: f"{t.rstrip('.')}, to be."),
            ("xray_of_one_side", "what holds of one side", lambda t: f"{t[:-1]} on this side."),
            ("xray_apparent", "what may only seem so", lambda t: f"Apparent {t}"),
        )
    ),
    Exploit(
        "trial_heading_of_none",
        "a heading that counts no trial",
        TRIAL,
        listed(lambda a, b: ["0 eligible trials:", *a]),
        EASY,
    ),
    Exploit(
        "trial_below_nought",
        "a score below nought",
        TRIAL,
        listed(lambda a, b: [f"{id_} -0.9" for id_ in a]),
        EASY,
    ),
    Exploit("tumour_of_none", "tiles that are said to be none", TUMOUR, selected(of_none)),
    Exploit(
        "tumour_retracted",
        "results that are taken back beside them",
        TUMOUR,
        selected(lambda row: {"results": [row], "retracted": True}),
    ),
    Exploit(
        "care_intake_head", "an intake of another urgency, way and court", REVIEWS, another_head
    ),
    Exploit(
        "care_other_units",
        "values in units in which they were not measured",
        REVIEWS,
        rewritten(FINDINGS, in_other_units, "evaluations"),
    ),
    Exploit(
        "care_every_day",
        "every day there is beside each finding",
        REVIEWS,
        rewritten(FINDINGS, on_every_day, "evaluations"),
    ),
    Exploit(
        "care_old_version",
        "findings by a version that is no longer in force",
        REVIEWS,
        rewritten(FINDINGS, of_another_version, "evaluations"),
    ),
    Exploit(
        "care_any_follow_up",
        "a month of days of follow-up to choose from",
        REQUESTS,
        rewritten("auth.finalize_provider_determination", again_any_day, "override_reason"),
    ),
    Exploit("care_doses", "doses that nobody prescribed", CARE, medicines(unlike_the_chart)),
)


def main() -> None:
    """Play all exploits and write the file anew."""
    PATH.unlink(missing_ok=True)
    for exploit in EXPLOITS:
        env = make_health_env(exploit.env_id, exploit.kwargs)
        for index in range(exploit.index, exploit.index + _TRIED):
            instance = env.family.generator.generate(Split.TEST, index)
            script = exploit.play(instance, oracle_script(env, instance))
            if script is not None:
                break
        else:
            raise LookupError(f"{exploit.name} applies to none of {_TRIED} tasks.")
        outcome = outcome_of(env, script, Split.TEST, index)
        freeze(env.trajectory(), PATH, exploit.name, exploit.found)
        print(exploit.name, index, outcome.verdict.success, *outcome.refused[:1], flush=True)


if __name__ == "__main__":
    main()
