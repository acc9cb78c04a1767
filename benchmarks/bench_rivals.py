"""Held-out answers of people, predicted by trilens and its rivals: for docs/recommend.md.

    python benchmarks/bench_rivals.py --envs FOLDER [--quick] [--studies cars] [--methods SOE LORE]

Each rival lives in an environment of its own, which is made in FOLDER with `python -m venv` and
pip if it is not there; rival_cblearn.py and rival_psiz.py run in them. All see the same answers.
A fifth of the questions is held out, three times (THINGS: once), and never a question that was
also learnt from. Rivals learn from similarity triplets: a central or odd answer gives two. They get
the dimension of a list that predicts best a fifth of the first training set that is held back;
LORE and trilens find it themselves. Everything else is at its default. Seconds are of CPU, on one
thread, without imports.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import trilens as tl
from trilens.statements import Statements

HERE = Path(__file__).resolve().parent
#: Environment: what pip installs.
ENVIRONMENTS = {"cblearn": ["cblearn==0.4.0", "torch>=2.1"], "psiz": ["psiz==0.13.1"]}
RIVALS = {
    "PsiZ": "psiz",
    "LORE": "cblearn",
    "SOE": "cblearn",
    "CKL": "cblearn",
    "FORTE": "cblearn",
    "TSTE": "cblearn",
}
FOLDS = 5
#: The most that PsiZ is trained; it stops earlier when its loss does not fall any more.
EPOCHS = 1000
SEED = 20261116


@dataclass(frozen=True)
class Study:
    """Answers, and what they allow."""

    answers: Statements
    n_splits: int
    dims: tuple[int, ...]
    #: PsiZ takes long: its candidates, and the number of splits that it is run on.
    psiz_dims: tuple[int, ...]
    psiz_splits: int


@dataclass
class Outcome:
    """What one method did, split by split."""

    right: list[np.ndarray] = field(default_factory=list)
    loss: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    choice: float = 0.0
    dim: int = 0
    own: bool = False


def studies(wanted: list[str]) -> Iterator[tuple[str, Study]]:
    if "cars" in wanted:
        cars = tl.datasets.load_cars(pictures=False).statements["T_ALL"]
        yield "cars", Study(cars, 3, (2, 3, 5, 8), (2, 3), 3)
    if "faces" in wanted:
        file = Path(os.environ.get("TRILENS_DATA", ""), "faces", "faces.csv")
        if not file.is_file():
            print("faces are not measured; they come with the R package tripletTools (faces.csv)")
        else:
            faces = tl.read_statements(file, preset="tripletools")
            yield "faces", Study(faces, 3, (2, 3, 5, 8), (8,), 1)
    if "things" in wanted:
        things = tl.datasets.load_things_odd_one_out().statements
        yield "things", Study(things, 1, (3, 10), (), 0)


def folds(S: Statements) -> np.ndarray:
    """The fold of each answer; answers to one question are in the same."""
    asked = S.triples.copy()
    asked[:, 1 if S.kind == "closer" else 0 :].sort(axis=1)
    _, question = np.unique(asked, axis=0, return_inverse=True)
    rng = np.random.default_rng(SEED)
    return rng.permutation(question.max() + 1)[question.ravel()] % FOLDS


def triplets(S: Statements) -> tuple[np.ndarray, np.ndarray]:
    """The similarity triplets of statements, and the statement that each comes from."""
    rows = S.to_triplets()
    return rows, np.repeat(np.arange(len(S)), len(rows) // len(S))


def anonymous(S: Statements) -> Statements:
    return Statements(S.triples, names=S.names, kind=S.kind)


def ours(train: Statements, test: Statements, into: Outcome) -> None:
    start = time.process_time()
    M = tl.ChoiceMap().fit(train)
    into.seconds.append(time.process_time() - start)
    p = M.predict_proba(test)
    into.right.append(p[:, 0] > p[:, 1:].max(axis=1))
    into.loss.append(float(-np.log(p[:, 0]).mean()))
    into.dim, into.own = M.n_components_, True


def theirs(
    name: str, python: str, study: Study, train: Statements, test: Statements, into: Outcome
) -> None:
    rows, of = triplets(train)
    held = np.random.default_rng([SEED, 1]).random(len(train)) < 1 / FOLDS
    own = name == "PsiZ" and test.kind == "closer"
    candidates = study.psiz_dims if name == "PsiZ" else study.dims
    with tempfile.TemporaryDirectory() as folder:
        given, out = f"{folder}/given.npz", f"{folder}/out.npz"
        np.savez(
            given,
            train=rows.astype(np.int64),
            inner=held[of],
            test=test.triples.astype(np.int64) if own else np.empty((0, 3), dtype=np.int64),
            dims=[into.dim] if into.dim and name != "LORE" else candidates,
            n_objects=train.n_objects,
            epochs=EPOCHS,
            seed=1,
        )
        worker = HERE / f"rival_{RIVALS[name]}.py"
        subprocess.run(
            [python, str(worker), name, given, out],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
            | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
        found = dict(np.load(out))
    evaluated = tl.evaluate(test, embedding=found["embedding"])
    into.right.append(np.asarray(evaluated.right))
    into.loss.append(evaluated.log_loss)
    if own:
        p = np.clip(found["probabilities"], 1e-6, 1)
        into.right[-1], into.loss[-1], into.own = p > 0.5, float(-np.log(p).mean()), True
    into.seconds.append(float(found["fit_seconds"]))
    into.choice += float(found["choice_seconds"])
    into.dim = int(found["dim"])
    seen = {key: float(value) for key, value in found.items() if value.ndim == 0}
    print(f"{name}: {seen}, accuracy {into.right[-1].mean():.4f}", file=sys.stderr)


def show(name: str, study: Study, done: dict[str, Outcome]) -> None:
    """A Markdown table; the best of each column in bold."""
    S = study.answers
    print(
        f"\n{name}: {len(S):,} answers of kind `{S.kind}`, {S.n_objects} objects, "
        f"{study.n_splits} split(s)\n"
    )
    head = [
        "",
        "accuracy",
        "trilens ahead by",
        "log-loss",
        "dimensions",
        "CPU s",
        "choosing, CPU s",
    ]
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    done = {who: outcome for who, outcome in done.items() if outcome.right}
    mine = np.concatenate(done["trilens"].right).astype(float)
    shares = {who: np.concatenate(o.right).mean() for who, o in done.items()}
    losses = {who: np.mean(o.loss) for who, o in done.items()}
    for who, o in done.items():
        right = np.concatenate(o.right)
        gap = mine[: len(right)] - right
        error = gap.std() / np.sqrt(len(gap))
        accuracy, loss = f"{shares[who]:.3f}", f"{losses[who]:.3f}"
        if shares[who] == max(shares.values()):
            accuracy = f"**{accuracy}**"
        if losses[who] == min(losses.values()):
            loss = f"**{loss}**"
        ahead = "" if who == "trilens" else f"{gap.mean():+.3f} ± {error:.3f}"
        choosing = f"{o.choice:.1f}" if o.choice > 0.05 else "in it"
        if who == "PsiZ" and len(study.psiz_dims) == 1:
            choosing = "set"
        row = [who, accuracy, ahead, loss + ("" if o.own else " (fitted)"), str(o.dim)]
        row += [f"{np.mean(o.seconds):.1f}", choosing]
        print(f"| {' | '.join(row)} |", flush=True)


def environment(folder: Path, name: str) -> str:
    """The interpreter of a rival's environment, which is made if it is not there."""
    python = folder / name / "bin" / "python"
    if not python.exists():
        print(f"making {python.parent.parent}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(folder / name)], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, *ENVIRONMENTS[name]], check=True)
    return str(python)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--envs", type=Path, default=os.environ.get("TRILENS_RIVALS"))
    parser.add_argument("--studies", nargs="+", default=["cars", "faces", "things"])
    parser.add_argument("--methods", nargs="*", default=list(RIVALS), choices=list(RIVALS))
    parser.add_argument("--quick", action="store_true", help="one split of the cars, no PsiZ")
    options = parser.parse_args()
    if options.envs is None:
        print("rivals are not measured; name a folder for their environments: --envs FOLDER")
        options.methods = []
    if options.quick:
        options.studies = ["cars"]
        options.methods = [name for name in options.methods if name != "PsiZ"]
    pythons = {RIVALS[name]: "" for name in options.methods}
    pythons = {name: environment(Path(options.envs), name) for name in pythons}
    for name, study in studies(options.studies):
        # what everybody else does not know either
        hidden = () if study.answers.raters is None else ("trilens, raters hidden",)
        done = {who: Outcome() for who in ("trilens", *hidden, *options.methods)}
        fold = folds(study.answers)
        for split in range(1 if options.quick else study.n_splits):
            train, test = study.answers.take(fold != split), study.answers.take(fold == split)
            ours(train, test, done["trilens"])
            for who in hidden:
                ours(anonymous(train), anonymous(test), done[who])
            for who in options.methods:
                if who == "PsiZ" and split >= study.psiz_splits:
                    continue
                theirs(who, pythons[RIVALS[who]], study, train, test, done[who])
        show(name, study, done)


if __name__ == "__main__":
    main()
