"""The Gymnasium environment of X-ray report correction."""

from __future__ import annotations

from healthgym.envs.declared import DeclaredEnv
from healthgym.envs.xray_correction.family import CorrectionFamily


class XrayCorrectionEnv(DeclaredEnv, family=CorrectionFamily):
    """Correct the draft of a chest radiograph's findings by looking at the pictures.

    ## Description

    The agent is a radiologist who signs off reports. A patient has one to twelve chest
    radiographs with their reports; the last study is to be reported, and the draft of its
    FINDINGS carries errors: a side, a severity, a comparison with the prior study, a number, a
    position, or a finding that is not there. A careful reader checks each sentence against the
    pictures (and the prior pictures, where it compares), measures what can be measured, edits the
    sentences that are wrong and leaves the others alone. It is hard because every sentence reads
    well: whether it is true is in the pixels and nowhere else. From the X-ray report correction
    category of HealthAgentBench, with its swap principles P1 to P7; here patients are parametric
    3-D thoraces projected to radiographs, so that truth is known and tasks are unlimited.

    ## Observation Space

    ``UnicodeText``: first the task, then the result of each call, which begins with the simulated
    time. Pictures come in ``info["images"]``; the text says what they show.

    ## Action Space

    {tools}

    ## Starting State

    The seed draws a patient (build, age, bones, vessels), what the draft says of the last study,
    the studies before it, the words, and, whatever a sentence says, which of them are wrong; by the
    swap principles a wrong sentence leads to what is true, and the pictures show that. So neither
    words nor numbers of a draft tell which sentence is wrong. Unlike in the source, an absence can
    be wrong, too: a finding that is there was left out. Findings that hide each other are not in
    one report, and earlier reports say nothing of what the draft speaks of. ``easy``: one or two
    studies, four sentences, one or two wrong, one wording each; ``medium``: one to four studies,
    seven to nine sentences, three to five wrong; ``hard``: two to twelve studies, nine to eleven
    sentences, four to eight wrong, 1024 pixels. ``canonical=True`` draws the source's ten cases by
    theme, number of errors and number of studies; its test split has exactly these ten.
    With ``source`` set to a folder of MIMIC-CXR-JPG its pictures and reports are used, and errors
    are made in its true findings by the source's principles, where a grammatical sentence comes of
    it; there nothing that is present is left out. The clock moves a minute a call; nothing depends
    on it.

    ## Rewards

    ``sparse``: 1 if the episode ends with ``submit`` and every check of the profile passes, else
    0. ``shaped``: the verdict's progress: the share of errors put right, less for what was broken.
    It is paid at the end and is 0 until then: paid for each edit, it would say which sentences are
    wrong. Doing nothing scores 0, and so does handing in the draft.

    {checks}

    Claims are read from the text and aligned with the truth; the classes A to F are those of
    errors that CheXprompt counts. A claim is an entity with its presence, side, place, size,
    number and comparison, and whether it is said with reserve. A denial holds of what it stands
    beside: "not in the stomach" leaves open where, "not enlarged" is normal, "no left effusion"
    and "no overt edema" deny a part only. What was is not what is; "has resolved" and "no
    longer" compare, and count as such where the truth has no comparison. No word is passed
    over: what the reader does not understand, and the truth does not hold, counts as a false
    finding. The ``paper`` profile counts clinically significant differences (a side, size,
    place or comparison left out is one; that something is absent may be left out), however the
    text is cut; with ``judge`` a language model decides it instead (*judged_clean* in place of
    the classes), asked once for each report that is handed in. The ``strict`` profile counts
    all differences, sentence by sentence. Handing in the draft fails at least one class.

    How the reader does (``python benchmarks/xray_correction.py --only reading --only exchanged``):
    of 279 sentences that were written after its grammar, and measured once, it accepted 1 of 184
    that are wrong or say less, and refused 2 of 95 natural ones; these were then mended. Of 358
    pinned wordings 7 are refused, of 40,941 generated attacks none is accepted, each counted by
    what it is about in ``results/xray_correction.json``. On 400 labelled sentences of real reports
    (Open-i) its claims are right in 94.8 % (95 % interval 92.1 to 96.5), and in 94.3 % (90.6 to
    96.6) of the 245 that nobody had looked at. A tube's tip is at a place; two heights above the
    carina are compared only where both are told.
    What a finding looks like may be said beside it ("blunting the left costophrenic angle",
    "with flattening of both hemidiaphragms"), as may the way by which a tube comes to its end;
    beside something else, on another side or denied it counts as false. A verdict, and the answer
    to an edit, name the words that were not understood.

    What is small or large, mild or severe, unchanged or not is stated where radiographs are drawn:
    ``measure`` and ``compare_prior`` end with the limits of what they measured.

    ## Episode End

    {episode end}

    ## Information

    {information} ``kind`` is ``"single"`` (study) or ``"serial"``. The metrics are the errors of
    each class, the significant ones, and how many sentences are wrong.

    ## Arguments

    {common arguments}
    - `difficulty` (str, ReportConfig or dict, "medium"): ``"easy"``, ``"medium"``, ``"hard"``, or
        weights of several.
    - `canonical` (bool, False): Whether tasks are composed like the source's ten cases.
    - `source` (str, "synthetic"): ``"synthetic"``, or a folder in the layout of MIMIC-CXR-JPG.
    - `judge` (Judge or dict, None): Decides the paper profile, such as
        :class:`healthgym.rewards.judge.LlmJudge`, or the fields of an endpoint; by default the
        claims do.

    ## Registered Configurations

    {configurations}

    ## Example

    >>> import gymnasium as gym
    >>> import healthgym
    >>> env = gym.make("HealthAgent/XrayCorrection-v1", difficulty="easy")
    >>> observation, info = env.reset(options={"index": 0})
    >>> action = healthgym.call("view_image", study=1)
    >>> observation, reward, terminated, truncated, info = env.step(action)
    >>> info["images"][0].shape
    (512, 512)
    >>> observation, reward, terminated, truncated, info = env.step(healthgym.call("submit"))
    >>> reward, terminated, info["success"]
    (0.0, True, False)

    ## Version History

    * v1: what can be guessed earns nothing (the changelog's *Grading changes* say it in full).
      Reports are read by a grammar that passes over no word; drafts are drawn before their truth,
      and an absence can be wrong, too. All tasks are drawn anew.
    * v0: first version, never released.
    """
