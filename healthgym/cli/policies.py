"""The policy that a command line names: its options, and how it is made."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from healthgym.cli.common import note
from healthgym.core.borders import JsonDict
from healthgym.errors import ConfigurationError

if TYPE_CHECKING:
    from healthgym.policies.evaluation import PolicyFactory

#: Seconds between two notes on an endpoint that fails.
_OFTEN = 30.0


def add_model_arguments(group: argparse._ArgumentGroup) -> None:
    """Add what ``--policy llm`` takes."""
    group.add_argument("--base-url", default=os.environ.get("OPENAI_BASE_URL") or None,
                       help="address of an OpenAI-compatible endpoint, up to /v1 "
                       "(default: OPENAI_BASE_URL)")  # fmt: skip
    group.add_argument("--api", choices=["chat", "responses"], default="chat",
                       help="chat completions, or responses")  # fmt: skip
    group.add_argument("--echo-reasoning", action="store_true",
                       help="send what was thought before a call back with it")  # fmt: skip
    group.add_argument("--model", help="name of the model there")
    group.add_argument("--api-key-env",
                       help="environment variable with the key (default: OPENAI_API_KEY at "
                       "OPENAI_BASE_URL's host or OpenAI's own; '' sends none)")  # fmt: skip
    group.add_argument("--calling", choices=["tools", "text"], default="tools",
                       help="the endpoint's tool calls, or calls written as text")  # fmt: skip
    group.add_argument("--system", default="", help="text of a system message")
    group.add_argument("--temperature", type=float, default=0.0)
    group.add_argument("--max-tokens", type=int, default=1024, help="of one answer")
    group.add_argument("--max-context", type=int, default=24_000, help="tokens of history sent")
    group.add_argument("--showing", choices=["follow", "result", "none"], default="follow",
                       help="pictures after a tool's message, in it, or not at all")  # fmt: skip
    group.add_argument("--max-image-side", type=int, default=1024, help="pixels of a picture sent")
    group.add_argument("--max-pictures", type=int, help="most pictures in one request")
    group.add_argument("--detail", default="", help="OpenAI's detail of pictures: low, high, auto")
    group.add_argument("--timeout", type=float, default=120.0, help="seconds for one answer")
    group.add_argument("--retries", type=int, default=4)
    group.add_argument("--deadline", type=float,
                       help="seconds for an answer in all (default: 5 timeouts)")  # fmt: skip
    group.add_argument("--budget-tokens", type=int, help="stop after so many tokens")
    group.add_argument("--budget-usd", type=float, help="stop after so many US dollars")
    group.add_argument("--prices", type=float, nargs=2, metavar=("IN", "OUT"), default=(0.0, 0.0),
                       help="US dollars for a million tokens read and written")  # fmt: skip
    group.add_argument("--extra", default="{}", metavar="JSON",
                       help="further fields of the request; null leaves one out")  # fmt: skip


def chosen_policy(args: argparse.Namespace) -> str | PolicyFactory:
    """Return the policy that a command line names: a scripted one, an endpoint's, or a folder's.

    Raises:
        ConfigurationError: If a model is asked for and the line does not say which, or is named
            and another policy is to play.
    """
    if args.policy == "llm":
        return _model_policy(args)
    if args.model or args.base_url != (os.environ.get("OPENAI_BASE_URL") or None):
        raise ConfigurationError(
            f"--model and --base-url are for --policy llm, not for {args.policy}."
        )
    return _folder_policy(args.policy) if Path(args.policy).is_dir() else str(args.policy)


def _folder_policy(folder: str) -> PolicyFactory:
    from healthgym.integrations.trl.models import open_checkpoint
    from healthgym.integrations.trl.policy import ModelPolicy

    model, tokenizer = open_checkpoint(folder)
    model.eval()
    return lambda: ModelPolicy(model, tokenizer, name=Path(folder).name)


def _model_policy(args: argparse.Namespace) -> PolicyFactory:
    from healthgym.core.chat_client import ChatClient
    from healthgym.core.endpoint import Endpoint
    from healthgym.core.spending import Budget, Prices
    from healthgym.policies.llm import LLMPolicy

    if not args.base_url or not args.model:
        raise ConfigurationError(
            "--policy llm needs --base-url and --model; OPENAI_BASE_URL stands in for the first."
        )
    endpoint = Endpoint(
        base_url=args.base_url,
        model=args.model,
        api_key_env=_key_variable(args),
        temperature=args.temperature,
        max_tokens=args.max_tokens,
        timeout=args.timeout,
        retries=args.retries,
        deadline=args.deadline,
        prices=Prices(*args.prices),
        extra=extra_fields(args.extra),
        api=args.api,
        echo_reasoning=args.echo_reasoning,
        concurrency=max(args.workers, 1),
    )
    budget = Budget(args.budget_tokens, args.budget_usd)
    client = ChatClient(endpoint, budget=budget, notice=_Seldom())

    def make_policy() -> LLMPolicy:
        return LLMPolicy(
            client,
            calling=args.calling,
            system=args.system,
            max_context=args.max_context,
            showing=args.showing,
            max_image_side=args.max_image_side,
            max_pictures=args.max_pictures,
            detail=args.detail,
        )

    return make_policy


class _Seldom:
    """Tells what an endpoint fails at, at most once in half a minute."""

    def __init__(self) -> None:
        self._told: float | None = None

    def __call__(self, text: str) -> None:
        now = perf_counter()
        if self._told is None or now - self._told >= _OFTEN:
            self._told = now
            note(f"healthgym: {text}")


def _key_variable(args: argparse.Namespace) -> str:
    """Return the variable that holds the key, empty for none.

    OpenAI's variable is sent unasked to those alone for whom it was set: no address on a command
    line learns the key of another.
    """
    if args.api_key_env is not None:
        return str(args.api_key_env)
    own = os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"
    same = urlsplit(args.base_url).netloc == urlsplit(own).netloc
    return "OPENAI_API_KEY" if same and os.environ.get("OPENAI_API_KEY") else ""


def extra_fields(text: str) -> JsonDict:
    """Return the fields that are told as JSON; a refusal does not repeat them, secrets or not."""
    try:
        extra = json.loads(text)
    except (ValueError, RecursionError):
        extra = None
    if not isinstance(extra, dict):
        raise ConfigurationError("--extra takes a JSON object.")
    return extra
