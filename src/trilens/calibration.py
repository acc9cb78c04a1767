"""Every constant on which a claim of the program rests.

Each section names the part of docs/claims.md that measured it. What is chosen on some studies is
measured on others.
"""

from __future__ import annotations

# ---- The map, its error rate and its dimensions: docs/claims.md, "How good the answers are"

#: Half the 95 % quantile of chi-square with one degree of freedom.
EVIDENCE_DROP = 1.92
#: The evidence may fall by so many times more for each coordinate per different question: where
#: these are few for the coordinates the share varies more than Laplace's method says, however
#: often they were answered (measured).
DROP_OF_FEW_QUESTIONS = 20.0
#: Below, most answers are certain and say nothing more about the coordinates: Laplace's method
#: takes a region of maps that are all as good for a hill. The fewer answers there are for each
#: coordinate, the sooner.
LEAST_PENALTY, LEAST_PENALTY_OF_FEW_ANSWERS, MOST_PENALTY = 1e-3, 0.03, 1e2
#: Of two answers to choose from, places take some of the careless ones for their own: the share
#: that the evidence finds is too small by so many times the third power of coordinates per answer,
#: these by the square of the share that is attentive. With this many coordinates per answer the
#: wider interval holds it anyway. (Chosen on seeds 0 to 316 of benchmarks/bench_evidence.py.)
CARELESS_IN_PLACES, CARELESS_IN_PLACES_UP_TO = 2.5, 0.15
#: The logarithm of the evidence that other dimensions must gain: it is not known better.
EVIDENCE_FOR_DIMENSIONS = 1.0
#: With fewer answers for each coordinate, and without features, the map follows them all, and
#: Laplace's method takes that for evidence.
ANSWERS_FOR_EACH_COORDINATE = 2.0
#: The logarithm of the evidence that features must gain: they have a parameter more.
EVIDENCE_FOR_FEATURES = 5.0
#: How many standard errors the weights must gain with held-out answers, and how much at least.
ERRORS_FOR_WEIGHTS, GAIN_FOR_WEIGHTS = 3.0, 0.002
#: Different answers beyond which the region is taken for an ellipsoid.
MOST_ANNEALED = 950
#: How much better than guesses held-out answers must be predicted, in mean log-likelihood times
#: the root of the number of answers. Fifteen studies of guesses reached 0.07 at most; answers of
#: which 30 % are wrong, 60 about each of 40 objects, 2 and more (``closer``, where these are too
#: few to tell: 0.4).
BEYOND_GUESSES = 0.5
#: Where the evidence for the map exceeds that for guesses by so much, nothing else is asked.
CLEAR_EVIDENCE = 50.0
#: Guesses agree as much as the answers in at most so many studies.
AGREEING_GUESSES = 0.005

#: An interval of a share as wide as this says nothing.
SAYS_NOTHING = 0.9

# ---- Centrality: docs/claims.md, "The most central object"

MEDOID_LEVEL = 0.95
#: Objects with fewer answers are always in the set: too little is known about them.
ANSWERS_TO_BE_KNOWN = 5
#: Of two answers to choose from, with fewer different questions for each coordinate of the map,
#: however often they were answered, the set is too small, and is not claimed: of a list of 200
#: questions about 40 objects it held the nearest one in 15 of 20 studies.
QUESTIONS_FOR_EACH_COORDINATE = 3.0
#: A few hundred drawn maps leave out some of what the answers allow (measured; see
#: docs/claims.md).
DEPTH_WIDER = 1.2
#: The posterior about a fitted map is a little too narrow: what may be left out is this share
#: of what the level allows (measured; see docs/claims.md).
LEFT_OUT_OF_SET = 0.6
#: Where answers about one pair pull together by more than this, the dissimilarities themselves
#: may be noisy, and some dimensions of the map made of that noise.
NOISY_DISSIMILARITIES = 1.2
#: Fewer raters say too little about how raters differ; then answers count as independent, and
#: what is claimed is about these raters only.
FEWEST_RATERS_THAT_TELL = 8
#: Fewer raters leave the variance between raters open altogether.
FEWEST_RATERS_WITH_VARIANCE = 4
#: The raters' spread is taken at the end of its one-sided interval of this level: where it is
#: thought too small, too much is made of who gave the most answers.
RATER_SPREAD_LEVEL = 0.75

# ---- Outliers: docs/claims.md, "What stands apart"

#: Maps without outliers that decide, and by how much their share is multiplied: their groups are
#: fitted to the map that is tested, and fit it a little too well.
ISOLATION_DRAWS, ISOLATION_TIMES = 199, 1.25
#: Places of a far object count as equally likely up to this difference in log-likelihood. (Chosen
#: on seeds 0 to 39 of three worlds with far objects; tried on seeds 100 to 124 and 300 to 339.)
AS_LIKELY_AS_THE_BEST = 0.5
#: The share of the level that the test on the map has beside that of counts, which are clear
#: where they show anything.
LEVEL_OF_ISOLATION = 0.8
#: What heavy tails count for beforehand, by what others do.
HEAVY_TAILS_PRIOR = 0.3

# ---- Groups: docs/claims.md, "How many groups"

#: In the middle between two groups objects lie at most this densely, by how they lie about the
#: centres.
DENSITY_OF_GAP = 0.6

# ---- Branches of a tree: docs/claims.md, "Branches of a tree"

#: A branch is claimed if it is one on so many of the maps that the answers allow.
BRANCH_LEVEL = 0.95

# ---- Careless raters, and raters who see other things: docs/claims.md, "Careless raters"

#: As long as fewer raters than this share seem careless, the maps do not suffer.
FEW_CARELESS = 0.03
#: The share of careful raters that may be called careless; half of what is claimed, because
#: the map and the distribution of the careful raters are estimates.
CARELESS_FALSE_ALARMS = 0.005
#: Guesses look inverted with at most one in so many raters.
ONE_INVERTED_IN = 200.0
#: The share of guessing raters who may seem to know what to say.
DIFFERING_GUESSES = 0.01
#: The share of them, and the number in a study, who may be unclear instead of careless.
UNCLEAR_SHARE, UNCLEAR_RATERS = 0.05, 0.15
#: How many times as likely guesses must be where other misfits are known to differ.
DECISIVE_ODDS = 10.0
#: By how many standard deviations careful raters as many as the misfits must stand out from
#: guesses, together, for misfits that do not to be called careless.
TELLING_DEVIATIONS = 0.5
#: A rater who answers fewer of the test questions correctly than this share has failed them.
CATCH_TRIALS_PASSED = 0.5
#: Raters with fewer answers are left out, and with fewer other raters nothing is compared.
COMPARED_ANSWERS, COMPARED_RATERS = 20, 4
#: Exchanges of raters for the test that they differ.
RATER_PERMUTATIONS = 199

# ---- Labels: docs/claims.md, "Labels"

#: Labels count as learnable when chance would do as well less often than this.
LABELS_SIGNIFICANCE = 0.02
#: A label is contradicted when at most this share of so many neighbors have it.
FEW_NEIGHBORS_AGREE = 0.25
NEAREST_LABELS, NEAREST_OF_FEW_LABELS = 11, 7

# ---- Groups of raters and conditions compared: docs/claims.md, "Groups and conditions compared"

GROUP_PERMUTATIONS = 999
#: Groups have lists of their own where raters of different groups have fewer questions in common
#: than this share of what raters of one group have, by more than so many standard errors.
AS_MUCH_IN_COMMON, OWN_LISTS_ERRORS = 0.95, 4.0
#: The same where the answers of each rater are exchanged, which other questions mislead sooner.
OWN_LISTS_ERRORS_OF_ANSWERS = 2.0
#: A model ranks behind another whose advantage has a smaller p-value, adjusted for all pairs.
MODELS_SIGNIFICANCE = 0.05
#: Standard errors by which another kind predicts better.
KIND_ERRORS = 5.0

# ---- Plans, the next questions, and when to stop: docs/claims.md, "Plans"

#: A plan's answers are enough in this share of the studies that may come.
PLAN_LEVEL = 0.8
#: People follow no model to the letter. In forty studies, other than those in docs/claims.md,
#: what came of ten times the pilot lay above what was expected by this much, and differed from
#: study to study by this standard deviation: the log odds of an object to be in the medoid's set,
#: and of an answer to be predicted by a perfect map.
BEYOND_MODEL: dict[str, tuple[float, float]] = {"medoid": (0.2, 0.35), "map": (0.2, 0.25)}
#: With fewer answers about each object, and no features, a map is no guide: measured, questions
#: chosen by it are then worse than random ones.
ANSWERS_BEFORE_CHOOSING, OBJECTS_BEFORE_CHOOSING = 18, 4
#: The share of wrong ``closer`` answers from which choosing gains nothing until there are so many
#: answers for each object (measured with 0.3; with 0.2 it gains sooner).
MANY_WRONG_CLOSER, MANY_WRONG_GAINS_FROM = 0.25, 60
#: The first look, in answers for each object, and the growth from look to look.
FIRST_LOOK, LOOK_GROWTH = 6, 1.5
#: The looks that may miss equally often.
EVEN_LOOKS = 9
#: Maps that are drawn to tell how often a set misses: as many as let two of them miss, but not
#: fewer nor more than these. (At the level 0.95: 400; 800 at the tenth look, then 2,400, 4,000.)
STOPPING_DRAWS = (400, 4000)
