"""A language model small enough to be trained from nothing in the run, and its tokenizer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from healthgym.integrations.trl import chat
from healthgym.integrations.trl.foreign import AnyModel, AnyTokenizer
from healthgym.integrations.trl.replies import teach


@dataclass(frozen=True, slots=True)
class TinyConfig:
    """Shape of the small model.

    Attributes:
        hidden: Width.
        layers: Depth.
        heads: Attention heads.
        feed_forward: Width of the feed-forward part.
        base: Base of the rotary positions.
        spread: Standard deviation of the initial weights. The usual 0.02 is for models a hundred
            times as wide; with it this one learns half as fast.
        vocabulary: Most tokens.
        context: Longest sequence, in tokens.
    """

    hidden: int = 96
    layers: int = 2
    heads: int = 4
    feed_forward: int = 256
    base: float = 10_000.0
    spread: float = 0.08
    vocabulary: int = 1024
    context: int = 2048


#: Where text is cut before merges are learned: the parts of a time, a small level's unit and tenth,
#: which are compared together, other digits by two, line ends.
PIECES = "|".join(
    [
        r"\d{4}-(?=\d\d-\d\d)",  # year
        r"(?<=\d{4}-)\d\d-(?=\d\d[T ])",  # month
        r"\d\d[T ](?=\d\d:)",  # day
        r"\d\d:(?=\d\d(?::\d\d[+-]|\]))",  # hour
        r"(?<=:)\d\d(?=:\d\d[+-]|\])",  # minute
        r":\d\d[+-]\d\d:\d\d",  # seconds and offset
        r"(?<![\d.])\d\.\d",
        r"\d\d?",
        r"\n",
    ]
)
#: The same, but ids and dates are read by their parts: half as long, where texts are full of ids.
ID_PIECES = "|".join(
    [
        r"(?<=[A-Za-z]-)\d{3,4}(?![\d-])",  # number of an id; one token where it is common
        r"\d{4}-(?=\d\d-\d\d)",  # year
        r"(?<=\d{4}-)\d\d-(?=\d\d)",  # month
        r"(?<=\d{4}-\d\d-)\d\d[T ]?",  # day
        r"\d\d:(?=\d\d)",  # hour
        r"(?<=\d:)\d\d",  # minute
        r"\d",
        r"\n",
    ]
)

_HEX2 = "[0-9a-f]{2}"
#: A UUID by two digits at a time, a dash with the two after it.
_UUID_PIECES = [
    rf"{_HEX2}(?=[0-9a-f]{{6}}-[0-9a-f]{{4}}-)",
    rf"(?<={_HEX2}){_HEX2}(?=[0-9a-f]{{4}}-[0-9a-f]{{4}}-)",
    rf"(?<=[0-9a-f]{{4}}){_HEX2}(?=[0-9a-f]{{2}}-[0-9a-f]{{4}}-)",
    rf"(?<=[0-9a-f]{{6}}){_HEX2}(?=-[0-9a-f]{{4}}-)",
    rf"-{_HEX2}(?=[0-9a-f]{{2}}-)",
    rf"(?<=-{_HEX2}){_HEX2}(?=-)",
    rf"-{_HEX2}(?=[0-9a-f]{{10}}(?![0-9a-f]))",
    *(
        rf"(?<=-[0-9a-f]{{{12 - left}}}){_HEX2}(?=[0-9a-f]{{{left - 2}}}(?![0-9a-f]))"
        for left in (10, 8, 6, 4, 2)
    ),
]
#: For charts as hospitals have them: UUIDs by pairs, dates and times by their parts, the seconds
#: with the offset, a small level's unit and tenth, other digits by two.
CHART_PIECES = "|".join(
    [
        *_UUID_PIECES,
        r"(?<!\d)(?:19|20)\d\d(?!\d)",  # year, in a date as alone: it is to be reckoned with
        r"(?<=\d{4})-\d\d(?=-\d\d)",  # month
        r"(?<=\d{4}-\d\d)-\d\d[T ]?",  # day
        r"\d\d:(?=\d\d(?::\d\d[+-]|\]))",  # hour
        r"(?<=:)\d\d(?=:\d\d[+-]|\])",  # minute
        r":\d\d[+-]\d\d:\d\d",  # seconds and offset
        r"(?<![\d.])\d\.\d",
        r"\d\d?",
        r"\n",
    ]
)


def train_tokenizer(texts: Iterable[str], size: int, pieces: str = PIECES) -> AnyTokenizer:
    """Return a byte-level BPE tokenizer, learned from texts, with the chat format.

    Digits are read two by two, so that a number never seen before is copied pair by pair, and
    times by year, month, day, hour and minute. Between them merges run freely, over spaces and
    punctuation, so that whatever is said the same way every time is one token: an episode is half
    as long as with a tokenizer for general text.

    Args:
        texts: The training texts.
        size: Most tokens, the 256 bytes and the marks of the chat format included.
        pieces: Where text is cut before merges are learned, as a regular expression.
    """
    from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    learned = Tokenizer(models.BPE())
    learned.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pieces), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    learned.decoder = decoders.ByteLevel()
    marks = [chat.PAD, chat.USER, chat.ASSISTANT, chat.TOOL, chat.SYSTEM]
    marks += [chat.END, chat.CALL, chat.CALL_END]
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=marks,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        max_token_length=64,
        min_frequency=8,
        show_progress=False,
    )
    learned.train_from_iterator(texts, trainer)
    tokenizer: AnyTokenizer = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call,unused-ignore]
        tokenizer_object=learned,
        pad_token=chat.PAD,
        eos_token=chat.END,
        padding_side="left",
        clean_up_tokenization_spaces=False,
    )
    tokenizer.chat_template = chat.chat_template(list_tools=False)
    teach(tokenizer)
    return tokenizer


def tiny_model(tokenizer: AnyTokenizer, config: TinyConfig, seed: int) -> AnyModel:
    """Return an untrained Qwen3 of the given shape."""
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(seed)
    return Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(tokenizer),
            initializer_range=config.spread,
            hidden_size=config.hidden,
            intermediate_size=config.feed_forward,
            num_hidden_layers=config.layers,
            num_attention_heads=config.heads,
            num_key_value_heads=config.heads,
            head_dim=config.hidden // config.heads,
            max_position_embeddings=config.context,
            rope_parameters={"rope_type": "default", "rope_theta": config.base},
            tie_word_embeddings=True,
            pad_token_id=tokenizer.pad_token_id,
            eos_token_id=tokenizer.eos_token_id,
            bos_token_id=None,
        )
    )
