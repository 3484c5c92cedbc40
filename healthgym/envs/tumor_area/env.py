"""The tumour-area environment."""

from __future__ import annotations

from healthgym.envs.declared import DeclaredEnv
from healthgym.envs.tumor_area.family import TumorAreaFamily


class TumorAreaSelectionEnv(DeclaredEnv, family=TumorAreaFamily):
    """Find the metastases on a gigapixel slide of a lymph node, and select their tiles.

    ## Description

    The agent reads a whole slide image as a pathologist does: the whole section at low power to
    see where lymphoid tissue is replaced by something else, and high power to see what it is. A
    careful reader knows that germinal centres, sheets of histiocytes, scars and folds stand out at
    low power, too, and calls tumour only where nuclei are large, uneven and arranged in nests. It
    is hard because a slide has 10^10 pixels and a reader few looks, because foci may be several,
    and because the edge of a metastasis decides many tiles. The task is HealthAgentBench's
    tumour-area selection, which takes ten slides of CAMELYON16; here slides are drawn, at every
    magnification alike, and every number a tool gives is measured on the pixels.

    ## Observation Space

    ``UnicodeText``: first the task, then the result of each call, which begins with the simulated
    time. Pictures that come with a result are in ``info["images"]``; the text says what they show.

    ## Action Space

    {tools}

    ``view_region``, ``contact_sheet`` and ``tile_statistics`` take a look each; the overview, the
    survey and the selection can be seen as often as one likes.

    ## Starting State

    The seed draws the slide's size, pieces of lymph node with capsule, sinuses, follicles, medulla
    and fat, the stain, artefacts (folds, knife lines, ink, bubbles, blur), metastases of 20 to 165
    tiles in one focus or several, with the roughness, elongation and number of foci that outlines
    of CAMELYON16 have, and, from afar like them, sheets of histiocytes and scars. Each is drawn
    apart: size of the slide, place and amount of tumour do not tell of each other. ``medium`` has
    21 to 24 tiles a side and 24 looks; ``hard`` has tumour cells closer to large lymphoid ones,
    more mimics and artefacts, and 20 looks; ``easy`` has 4 to 7 tiles a side, 2 to 5 tumour tiles
    of blatant cells that leave no tile in doubt, no mimic, and 8 looks.

    ## Rewards

    ``sparse``: 1 if the episode ends with ``submit`` and every check of the profile passes, else 0.
    ``shaped``: Cohen's kappa of the selection over the tiles with tissue, so that all of them, and
    guesses, have mean 0; 1 for success. It is paid at the end and is 0 until then: paid for each
    change of the selection, it would say which tiles are tumour. Doing nothing scores 0.

    {checks}

    ``paper`` reads a selection written as text as the published evaluator does.

    ## Episode End

    {episode end}

    ## Information

    {information} The metrics are precision, recall, F1, tumor_coverage and the number of selected
    tiles.

    ## Arguments

    {common arguments}
    - `difficulty` (str, SlideConfig or dict, "medium"): ``"easy"``, ``"medium"``, ``"hard"``, or
        weights of several.
    - `canonical` (bool, False): Whether the test split is ten slides with the published numbers
        of tumour tiles and extents.
    - `source` (str, "synthetic"): ``"synthetic"``, or a folder of slides in CAMELYON16's layout.
    - `looks` (int, None): Looks at high power; as the difficulty says.

    ## Registered Configurations

    {configurations}

    ## Example

    >>> import gymnasium as gym
    >>> import healthgym
    >>> env = gym.make("HealthAgent/TumorAreaSelection-v1", difficulty="easy")
    >>> observation, info = env.reset(options={"index": 0})
    >>> observation, reward, terminated, truncated, info = env.step(healthgym.call("survey_tiles"))
    >>> observation.splitlines()[1].split(";")[1]
    ' x:tissue %/haematoxylin/eosin at downsample 128'
    >>> observation, reward, terminated, truncated, info = env.step(healthgym.call("submit"))
    >>> reward, terminated, info["success"]
    (0.0, True, False)

    ## Version History

    * v1: what can be guessed earns nothing (the changelog's *Grading changes* say it in full).
      Progress takes chance off; ``paper`` grades the first row of a selection, whoever's it is.
    * v0: first version, never released.
    """
