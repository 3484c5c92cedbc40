"""The CT abnormality environment."""

from __future__ import annotations

from healthgym.envs.ct_abnormality.family import CtFamily
from healthgym.envs.declared import DeclaredEnv


class CtAbnormalityEnv(DeclaredEnv, family=CtFamily):
    """Read a chest CT and call each of a list of findings: there, or not.

    ## Description

    The agent is a radiologist with a workstation. It is given one chest CT of 200 to 700 slices in
    Hounsfield units and 4 to 12 of the 18 findings that CT-RATE labels. A careful reader scrolls
    through the lungs and the mediastinum in their windows, looks at reformats, measures where a
    size or a density decides, knows what imitates each finding, and calls every one. It is hard
    because findings are small and many, some differ from their mimics by a few millimetres or
    Hounsfield units, and one wrong call fails the scan. The task is HealthAgentBench's CT
    abnormality classification. There, twelve of seventeen findings can only be listed when they
    are there, so that six of ten scans can be called without opening them; here a coin decides for
    each finding that is listed.

    ## Observation Space

    ``UnicodeText``: first the task with its findings, then the result of each call. Pictures are
    in ``info["images"]``: uint8, (height, width), the patient's right at the left.

    ## Action Space

    {tools}

    Positions are in mm: x to the patient's right, y to the front, z to the head.
    Pictures and measurements are computed from voxels, read when they are needed, and from nothing
    else: ``healthgym.worlds.volumes.nifti.write_nifti`` writes a scan to disk, and an environment
    on that file says the same.

    ## Starting State

    The seed draws, from separate streams, the list of findings, a fair coin for each, the patient
    (size, build, sex, level of the diaphragm), the scan (field of view, slices, spacing, contrast
    medium, kernel, noise) and the lesions with their places. So nothing but the voxels says
    anything about the truth. Findings that are not listed are there now and then; absent ones may
    be imitated: dependent density, prominent heart, little pericardial fluid, small nodes and
    nodules, calcified valve, gas in the oesophagus, slightly wide bronchi. Truth is what was drawn,
    past the thresholds of ``show_criteria``: heart to inner chest 0.50; pericardial fluid 5 mm and
    pleural fluid 6 mm deep; nodes of 10 mm short axis; nodules of 4 mm; ground glass in which
    vessels remain is a lung opacity and consolidation is not, nor is a flat band, which is
    atelectasis. ``easy`` asks for 2 to 4 findings that one measurement each settles, with nothing
    else in the scan; ``medium`` has all 18, mimics and more noise; ``hard`` shows them subtly. No
    two tasks share patient or scan, whatever their split.

    ## Rewards

    ``sparse``: 1 if the episode ends with ``submit`` and every check of the profile passes, else 0.
    ``shaped``: Youden's J, the share of findings called that are there less that of findings called
    that are not, so that constants and guesses have mean 0; 1 for success. It is paid when they are
    handed in and not before: paid for each call, it would say which are right. Doing nothing scores
    0.

    {checks}

    Read as the published evaluator reads them, many words mean yes and no, what follows a comma is
    ignored, and of several lines for a finding the last counts.

    ## Episode End

    {episode end}

    ## Information

    {information} The metrics are accuracy, true and false positives and negatives, and missing
    calls (which the published counts put with the false negatives).

    ## Arguments

    {common arguments}
    - `difficulty` (str, CtConfig or dict, "medium"): ``"easy"``, ``"medium"``, ``"hard"``, or
        weights of several.
    - `canonical` (bool, False): Whether the test split is ten tasks with the numbers of findings
        and of positives of the ten published ones. Which findings are listed, and which are there,
        is drawn anew, so that the one-sided prior fails here, too.
    - `source` (str, "synthetic"): ``"synthetic"``, or a folder of NIfTI volumes with a table of
        labels, such as CT-RATE.

    ## Registered Configurations

    {configurations}

    ## Example

    >>> import gymnasium as gym
    >>> import healthgym
    >>> env = gym.make("HealthAgent/CtAbnormality-v1", difficulty="easy")
    >>> observation, info = env.reset(options={"index": 0})
    >>> action = healthgym.call("view_slice", plane="axial", position=-40.0)
    >>> observation, reward, terminated, truncated, info = env.step(action)
    >>> info["images"][0].shape
    (512, 512)
    >>> observation, reward, terminated, truncated, info = env.step(healthgym.call("submit"))
    >>> reward, terminated, info["success"]
    (0.0, True, False)

    ## Version History

    * v1: what can be guessed earns nothing (the changelog's *Grading changes* say it in full).
      Progress takes chance off, so that calling everything absent is worth nothing.
    * v0: first version, never released.
    """
