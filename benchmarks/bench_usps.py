"""Classes of digits by the default method, beside k-NN on the true pixels.

    python benchmarks/bench_usps.py [--draws 10] [--answers 1e6] [--wrong 0.0] [--method auto]

800 random digits of USPS, 300 of them labelled; `classify` sees the labels and answers about
which of three digits is the most central, the rival the pixels. The target is a 0-1 loss on the
other 500 of at most 1.05 times the rival's.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from trilens.datasets import load_usps
from trilens.questions.classify.classes import classify
from trilens.questions.classify.tuning import tuned_classifier
from trilens.simulate import simulate_statements

LABELLED, DIGITS = 300, 800


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--answers", type=float, default=1e6)
    parser.add_argument("--wrong", type=float, default=0.0)
    parser.add_argument("--method", default="auto")
    args = parser.parse_args()
    usps = load_usps()
    losses = []
    for draw in range(args.draws):
        rng = np.random.default_rng(draw)
        chosen = rng.choice(len(usps.labels), DIGITS, replace=False)
        pixels, truth = usps.images[chosen].astype(float), usps.labels[chosen]
        S = simulate_statements(pixels, int(args.answers), error_rate=args.wrong, random_state=draw)
        start = time.process_time()
        y = [*truth[:LABELLED].tolist(), *[None] * (DIGITS - LABELLED)]
        found = classify(S, y, args.method, random_state=draw)
        seconds = time.process_time() - start
        rival = tuned_classifier("knn", pixels[:LABELLED], truth[:LABELLED], draw)
        hidden = truth[LABELLED:]
        losses.append(
            [
                (found.found[LABELLED:].astype(int) != hidden).mean(),
                (rival.predict(pixels[LABELLED:]) != hidden).mean(),
            ]
        )
        print(
            f"draw {draw}: {found.method} in {found.parameters['n_components']} dimensions "
            f"{losses[-1][0]:.3f}, pixels {losses[-1][1]:.3f}; {seconds:.0f} CPU s",
            flush=True,
        )
    ours, theirs = np.mean(losses, axis=0)
    print(
        f"{args.answers:,.0f} answers, {args.wrong:.0%} wrong, {args.draws} draws: "
        f"{ours:.4f} against {theirs:.4f}, ratio {ours / theirs:.3f} (target 1.05)"
    )


if __name__ == "__main__":
    main()
