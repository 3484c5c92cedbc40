"""A policy that works honestly: it trains two models and hands in their mean."""

from __future__ import annotations

from collections.abc import Generator

from healthgym.core.tool import ToolCall, call


def solve(instruction: str) -> Generator[ToolCall, str, None]:
    """Play an episode: features, two models, predictions."""
    # Every study has the same tables, so the steps do not depend on what comes back.
    for action in honest():  # noqa: UP028 - a list takes no messages
        yield action


def honest() -> list[ToolCall]:
    """Return the calls of a modeller who knows the trade, and nothing of the labels."""
    sets = ["counts", "recent", "values", "person"]
    return [
        call("list_tables"),
        call("build_features", name="counts"),
        call("build_features", name="recent", window_days=180),
        call("build_features", name="values", measure="last", code_prefix="LOINC/"),
        call("build_demographics", name="person"),
        call(
            "train_model",
            name="trees",
            features=sets,
            trees=200,
            learning_rate=0.04,
            max_leaves=8,
            min_leaf_rows=15,
            column_share=0.4,
        ),
        call(
            "train_model",
            name="ridge",
            features=["counts", "values", "person"],
            algorithm="logistic_regression",
            penalty=300.0,
        ),
        call("evaluate_models", models=["trees", "ridge"]),
        call("draft_predictions", models=["trees", "ridge"]),
        call("submit_predictions"),
    ]
