"""Verdicts: is what we measured what the paper says? Computed, never typed in.

Everything here takes one number per run (or one difference per run, where two methods are
compared on the same draws), and allows for chance by the standard error of their mean,
se = sd / sqrt(runs). A rule is met when all of mean ± 2 se meets it, and missed when none of it
does; in between the runs are too few to tell. So they are if there are fewer than five, of which
the standard error itself is hardly known. With a single run it is unknown, and only what holds
exactly, without chance, is judged.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from trilens._typing import FloatArray

if TYPE_CHECKING:
    from trilens_paper.framework.results import Results

Verdict: TypeAlias = Literal["agrees", "differs", "undecided", "not comparable", "not judged"]

T = TypeVar("T")

#: Width of the interval about a mean, in standard errors.
WIDTH = 2.0
#: With fewer runs nothing random agrees or differs.
LEAST_RUNS = 5


@dataclass(frozen=True)
class Finding:
    """What we found, in words, and whether it agrees."""

    ours: str
    verdict: Verdict


@dataclass(frozen=True)
class Claim:
    """One line of the summary."""

    text: str
    #: The paper's number or words; ``"-"`` where the claim is ours and not the paper's.
    paper: str
    #: When it counts as agreeing, with the tolerance.
    rule: str
    judge: Callable[[Results], Finding]
    #: Shown beside a verdict that is not ``"agrees"``: the reason, where it is known.
    why: str = ""
    #: The claim in few words, if it is one of the page's main claims.
    main: str = ""
    #: About the times of programs that the paper ran and trilens does not: such a claim neither
    #: agrees nor differs, whatever was measured.
    other_programs: bool = False

    def finding(self, results: Results) -> Finding:
        """What the results say about the claim."""
        found = self.judge(results)
        if self.other_programs and found.verdict != "not judged":
            return Finding(found.ours, "not comparable")
        return found

    def reason(self, finding: Finding) -> str:
        """Why a finding is not that the claim agrees."""
        if finding.verdict in ("agrees", "not judged"):
            return ""
        if finding.verdict == "differs":
            return self.why or "no reason known."
        given = {
            "undecided": "A limit lies within 2 se of what was found.",
            "not comparable": "The paper timed other programs, in Matlab and R.",
        }[finding.verdict]
        return f"{given} {self.why}".strip()

    @property
    def of_paper(self) -> bool:
        """Whether the claim is the paper's."""
        return self.paper != "-"


NOT_RUN = Finding("not run", "not judged")


def mean_and_error(values: ArrayLike) -> tuple[float, float, int]:
    """The mean, its standard error (NaN for a single run) and the number of runs.

    >>> mean_and_error([1.0, 3.0])
    (2.0, 1.0, 2)
    """
    x = np.asarray(values, dtype=np.float64)
    error = float(x.std(ddof=1) / np.sqrt(len(x))) if len(x) > 1 else float("nan")
    return float(x.mean()), error, len(x)


def shown(values: ArrayLike, digits: int = 3) -> str:
    """A mean with its standard error and the number of runs, for the page.

    >>> shown([1.0, 3.0], 1)
    '2.0 ± 1.0 (2 runs)'
    """
    mean, error, runs = mean_and_error(values)
    if runs == 1:
        return f"{mean:.{digits}f} (1 run)"
    return f"{mean:.{digits}f} ± {error:.{digits}f} ({runs} runs)"


def equal(ours: object, paper: object) -> Finding:
    """Agrees when both are the same: for what has no chance in it.

    >>> equal(7097, 7097).verdict
    'agrees'
    """
    return Finding(str(ours), "agrees" if ours == paper else "differs")


def _by_mean(values: ArrayLike, digits: int, rule: Callable[[float, float], Verdict]) -> Finding:
    """The verdict of a rule on the mean and its standard error; few runs decide nothing."""
    if not np.size(values):
        return NOT_RUN
    mean, error, runs = mean_and_error(values)
    return Finding(shown(values, digits), rule(mean, error) if _enough(runs) else _too_few(runs))


def _enough(runs: int) -> bool:
    return runs >= LEAST_RUNS


def _too_few(runs: int) -> Verdict:
    return "undecided" if runs > 1 else "not judged"


def near(
    values: ArrayLike,
    paper: float,
    tolerance: float,
    *,
    paper_sd: float | None = None,
    digits: int = 3,
) -> Finding:
    """Agrees when all of mean ± 2 se is within a tolerance of the paper's value.

    Where the paper gives a standard deviation over its 100 runs, se is that of the difference
    between both means, sqrt(sd_paper^2 / 100 + sd_ours^2 / runs_ours).

    >>> six = [0.10, 0.12, 0.11, 0.10, 0.12, 0.11]
    >>> near(six, 0.14, 0.01).verdict, near(six, 0.14, 0.03).verdict, near(six, 0.12, 0.03).verdict
    ('differs', 'undecided', 'agrees')
    >>> near(six, 0.12, 0.03, paper_sd=0.1).verdict, near(six[:3], 0.12, 0.03).verdict
    ('undecided', 'undecided')
    """
    chance = 0.0 if paper_sd is None else paper_sd / float(np.sqrt(100))
    low, high = paper - tolerance, paper + tolerance
    return _by_mean(
        values, digits, lambda mean, error: _inside(mean, float(np.hypot(error, chance)), low, high)
    )


def near_exactly(value: float, paper: float, tolerance: float) -> Finding:
    """Agrees when |value - paper| <= tolerance: for what has no chance in it.

    >>> near_exactly(0.4695, 0.47, 0.005).verdict
    'agrees'
    """
    close = abs(value - paper) <= tolerance
    return Finding(f"{value:.3f}", "agrees" if close else "differs")


def within(values: ArrayLike, low: float, high: float, digits: int = 3) -> Finding:
    """Agrees when mean ± 2 se lies in [low, high], differs when it lies outside of it.

    >>> five = np.array([3.8, 4.2, 4.0, 4.1, 3.9])
    >>> within(five, 3.0, 5.0).verdict, within(five, 4.0, 5.0).verdict, at_most(five, 1.0).verdict
    ('agrees', 'undecided', 'differs')
    """
    return _by_mean(values, digits, lambda mean, error: _inside(mean, error, low, high))


def _inside(mean: float, error: float, low: float, high: float) -> Verdict:
    """Whether mean ± 2 se lies in [low, high]; a little more for what floats cannot say."""
    return _interval_inside(mean - WIDTH * error, mean + WIDTH * error, low, high)


def _interval_inside(least: float, most: float, low: float, high: float) -> Verdict:
    slack = 1e-12
    if low - slack <= least and most <= high + slack:
        return "agrees"
    return "differs" if most < low or least > high else "undecided"


def at_most(values: ArrayLike, high: float, digits: int = 3) -> Finding:
    """Agrees when all of mean ± 2 se is at most ``high``."""
    return within(values, -np.inf, high, digits)


def at_least(values: ArrayLike, low: float, digits: int = 3) -> Finding:
    """Agrees when all of mean ± 2 se is at least ``low``."""
    return within(values, low, np.inf, digits)


def share_within(values: ArrayLike, low: float, high: float) -> Finding:
    """Of the runs in which something is so (1) or not (0), the share: in [low, high]?

    By the score interval of Wilson (1927), which has a width where all runs are alike, too.

    >>> share_within([1.0] * 100, 0.9, 1.0).verdict, share_within([1.0] * 10, 0.9, 1.0).verdict
    ('agrees', 'undecided')
    >>> share_within([0.0] * 10, 0.9, 1.0).verdict
    'differs'
    """
    x = np.asarray(values, dtype=np.float64)
    if not len(x):
        return NOT_RUN
    n, share, square = len(x), float(x.mean()), WIDTH**2
    centre = (share + square / (2 * n)) / (1 + square / n)
    half = WIDTH / (1 + square / n) * np.sqrt(share * (1 - share) / n + square / (4 * n * n))
    text = f"{share:.2f} [{max(centre - half, 0):.2f}, {min(centre + half, 1):.2f}] ({n} runs)"
    if not _enough(n):
        return Finding(text, _too_few(n))
    return Finding(text, _interval_inside(centre - half, centre + half, low, high))


def below(differences: ArrayLike, digits: int = 3) -> Finding:
    """Of the differences A - B, run by run: agrees when A is smaller beyond chance.

    mean + 2 se < 0 agrees, mean - 2 se > 0 differs, all else is undecided.

    >>> below([-0.2, -0.1, -0.15, -0.1, -0.2]).verdict, below([0.1, -0.1] * 3).verdict
    ('agrees', 'undecided')
    """
    return _by_mean(differences, digits, _beyond)


def above(differences: ArrayLike, digits: int = 3) -> Finding:
    """Of the differences A - B, run by run: agrees when A is larger beyond chance."""
    return _by_mean(differences, digits, lambda mean, error: _beyond(-mean, error))


def _beyond(mean: float, error: float) -> Verdict:
    if mean + WIDTH * error < 0:
        return "agrees"
    return "differs" if mean - WIDTH * error > 0 else "undecided"


def worst(verdicts: Container[Verdict]) -> Verdict:
    """Of several verdicts the one that speaks for all: what was not run, then what differs."""
    order: tuple[Verdict, ...] = ("not judged", "differs", "undecided", "agrees")
    return next(verdict for verdict in order if verdict in verdicts)


def quorum(findings: Mapping[str, Finding], need: int | float = 1.0) -> Finding:
    """Agrees when at least ``need`` of the findings do (a share where it is a float): all of them.

    Differs when so many differ that the quorum cannot be reached any more. What was not run may
    still go either way: where the quorum hangs on it, there is no verdict.

    >>> quorum({"SOE": equal(1, 1), "STE": equal(1, 2)}, 2).verdict
    'differs'
    >>> quorum({"SOE": equal(1, 1), "STE": equal(1, 2)}, 0.5).ours
    '1 of 2: SOE 1; not STE 1'
    >>> quorum({"SOE": equal(1, 1), "STE": NOT_RUN}, 2).verdict
    'not judged'
    """
    verdicts = [f.verdict for f in findings.values()]
    if set(verdicts) <= {"not judged"}:
        return Finding("; ".join(f"{name} {f.ours}" for name, f in findings.items()), "not judged")
    wanted = int(np.ceil(need * len(verdicts) - 1e-9)) if isinstance(need, float) else need
    n_agree, n_differ = verdicts.count("agrees"), verdicts.count("differs")
    marks = {"agrees": "", "differs": "not ", "undecided": "undecided ", "not judged": ""}
    listed = "; ".join(
        f"{marks[f.verdict]}{name} {_nested(f.ours)}" for name, f in findings.items()
    )
    verdict: Verdict = "undecided"
    if n_agree >= wanted:
        verdict = "agrees"
    elif len(verdicts) - n_differ < wanted:
        verdict = "differs"
    elif n_agree + verdicts.count("undecided") < wanted:
        verdict = "not judged"
    return Finding(f"{n_agree} of {len(verdicts)}: {listed}", verdict)


def each(settings: Mapping[str, T], judge: Callable[[T], Finding]) -> Finding:
    """A quorum of all settings, by their names; ``judge`` takes each."""
    return quorum({name: judge(setting) for name, setting in settings.items()})


def in_times(logs: FloatArray, found: Finding, digits: int = 2) -> Finding:
    """What was found of differences of logarithms, said as a ratio."""
    if not len(logs):
        return NOT_RUN
    return Finding(f"{np.exp(logs.mean()):.{digits}f} times", found.verdict)


def times_alike(logs: FloatArray) -> Finding:
    """Agrees when times, of which these are the differences of the logarithms, are the same."""
    return in_times(logs, within(logs, -np.log(1.3), np.log(1.3)))


def _nested(text: str) -> str:
    """A quorum within a quorum stands in brackets."""
    return f"[{text}]" if "; " in text else text
