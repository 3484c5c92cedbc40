"""Episodes as HTML that a browser shows without anything beside it: no script, no other file."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from html import escape

from healthgym.core.borders import JsonObject
from healthgym.core.trajectory import Trajectory, Turn
from healthgym.presentation.pictures import data_url
from healthgym.presentation.render import counted

#: Finds a picture by its fingerprint, as a data URL; None if there is none.
PictureFinder = Callable[[str], str | None]
#: Picture files up to this size, in bytes, go into a page as they are.
_SMALL = 20_000

STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.5 system-ui, sans-serif; color: #20242a; background: #fafaf7;
  max-width: 1080px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin-bottom: .2rem; }
details { background: white; border: 1px solid #ddd; border-radius: 6px; margin: .6rem 0; }
summary { cursor: pointer; padding: .5rem .9rem; overflow-wrap: anywhere; }
.episode { padding: 0 .9rem .7rem; overflow-wrap: anywhere; }
.task, .said { white-space: pre-wrap; }
.task { border-left: 3px solid #c9c9c0; padding-left: .8rem; }
.turn { border-top: 1px solid #eee; padding: .5rem 0; }
.call { font-family: ui-monospace, monospace; font-size: 13px; color: #1f4f6b;
  white-space: pre-wrap; }
.said { font-size: 13px; color: #444; margin: .2rem 0; }
.quiet { color: #666; font-size: 12.5px; } .ok { color: #2f7d32; } .no { color: #b0413e; }
.pictures { display: flex; flex-wrap: wrap; gap: .6rem; margin: .4rem 0; }
.pictures img { max-width: 100%; max-height: 420px; min-width: 96px; background: #181818;
  border: 1px solid #ccc; }
table { border-collapse: collapse; font-size: 13px; margin: .3rem 0; }
td, th { padding: .15rem .7rem .15rem 0; text-align: left; vertical-align: top; }
"""


def page(title: str, note: str, episodes: Iterator[str]) -> Iterator[str]:
    """Yield the parts of a page, one episode at a time, so that a long one is never held whole.

    Args:
        title: Its heading.
        note: A sentence below it.
        episodes: What :func:`episode` returned for each.
    """
    yield (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{_text(title)}</title><style>{STYLE}</style></head><body>\n"
        f'<h1>{_text(title)}</h1><p class="quiet">{_text(note)}</p>\n'
    )
    yield from episodes
    yield "</body></html>\n"


def episode(
    run: Trajectory, number: int, pictures: PictureFinder = lambda name: None, *, opened: bool
) -> str:
    """Return an episode as a section that opens and closes: task, turns, pictures and verdicts.

    Args:
        run: The recording.
        number: Its place in the file, from 1.
        pictures: Finds the pictures shown.
        opened: Whether it is open to begin with.
    """
    outcomes = [_outcome(role, run) for role in run.rewards]
    head = (
        f"{number}. <b>{_text(run.task_id)}</b> "
        f'<span class="quiet">{_text(run.kind)}, {len(run.turns)} steps</span> '
        + " ".join(outcomes)
    )
    parts = [f"<details{' open' if opened else ''}><summary>{head}</summary>"]
    parts.append('<div class="episode">')
    if run.env_id:
        given = ", ".join(f"{name}={value!r}" for name, value in run.env_kwargs.items())
        told = f"{run.env_id}{f' ({given})' if given else ''}, healthgym {run.version}"
        parts.append(f'<p class="quiet">{_text(told)}</p>')
    for role, text in run.instructions.items():
        named = f"<b>{_text(role)}:</b> " if len(run.instructions) > 1 else ""
        parts.append(f'<p class="task">{named}{_text(text)}</p>')
    parts += [_turn(turn, place, pictures) for place, turn in enumerate(run.turns, 1)]
    if not run.turns:
        parts.append('<p class="quiet">Nothing was done.</p>')
    parts += [_verdicts(role, run) for role in run.verdicts]
    return "\n".join([*parts, "</div></details>\n"])


def _outcome(role: str, run: Trajectory) -> str:
    named = f"{_text(role)} " if len(run.rewards) > 1 else ""
    verdict: JsonObject = run.verdicts.get(role, {}).get("strict", {})
    won = bool(verdict.get("success"))
    stopped = ", stopped from outside" if role in run.stopped else ""
    return (
        f'{named}<span class="{"ok" if won else "no"}">{"solved" if won else "not solved"}</span> '
        f'<span class="quiet">reward {run.rewards[role]:.2f}{stopped}</span>'
    )


def _turn(turn: Turn, number: int, pictures: PictureFinder) -> str:
    reward = f", reward {turn.reward:+.2f}" if turn.reward else ""
    refused = f', <span class="no">{len(turn.errors)} refused</span>' if turn.errors else ""
    told = f"{number}. {_text(turn.role)}, {_text(turn.time[:16])}{reward}{refused}"
    return (
        f'<div class="turn"><div class="quiet">{told}</div>'
        f'<div class="call">{_text(turn.action)}</div>'
        f'<div class="said">{_text(turn.observation)}</div>{pictures_of(turn, pictures)}</div>'
    )


def pictures_of(turn: Turn, pictures: PictureFinder) -> str:
    """Return the pictures of a turn, and how many of them were not found."""
    if not turn.images:
        return ""
    found = [url for name in turn.pictures if (url := pictures(name)) is not None]
    tags = "".join(
        f'<img alt="picture {place}" loading="lazy" src="{_text(url)}">'
        for place, url in enumerate(found, 1)
    )
    missing = turn.images - len(found)
    note = f'<div class="quiet">{counted(missing)} not at hand</div>' if missing else ""
    return f'<div class="pictures">{tags}</div>{note}'


def inline(file: bytes, max_side: int) -> str:
    """Return a PNG file as a data URL, made smaller where pillow can do so.

    Args:
        file: The PNG.
        max_side: Most pixels of the longer side. A picture of more than 20 kB becomes a JPEG if
            that is shorter.
    """
    if len(file) <= _SMALL:
        return data_url(file)
    try:
        from PIL import Image
    except ImportError:
        return data_url(file)
    forms = {}
    with Image.open(io.BytesIO(file), formats=("PNG",)) as picture:
        picture.thumbnail((max_side, max_side))
        for kind, options in (("png", {}), ("jpeg", {"quality": 88})):
            buffer = io.BytesIO()
            picture.save(buffer, kind, **options)
            forms[kind] = buffer.getvalue()
    kind = min(forms, key=lambda name: len(forms[name]))
    return data_url(forms[kind], kind)


def _verdicts(role: str, run: Trajectory) -> str:
    parts = []
    for profile, verdict in run.verdicts[role].items():
        named = f"{role}, {profile}" if len(run.verdicts) > 1 else profile
        won = verdict.get("success")
        parts.append(
            f'<div class="turn"><b>{_text(named)}</b>: '
            f'<span class="{"ok" if won else "no"}">{"success" if won else "failure"}</span><table>'
        )
        for check in verdict.get("checks", ()):
            passed = check.get("passed")
            mark = '<span class="ok">✓</span>' if passed else '<span class="no">✗</span>'
            cells = (_text(str(check.get(key, ""))) for key in ("name", "requirement", "detail"))
            parts.append(f"<tr><td>{mark}</td>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
        parts.append("</table></div>")
    return "".join(parts)


def _text(text: str) -> str:
    """Return a text for the page: escaped, and what no page may hold shown as such."""
    kept = (c if c.isprintable() or c in "\n\t" else "�" for c in text)
    return escape("".join(kept).encode("utf-8", "replace").decode("utf-8"))
