"""Variational places by PsiZ, for bench_rivals.py; runs with the interpreter of PsiZ's environment.

    python rival_psiz.py METHOD IN.npz OUT.npz

IN and OUT are those of rival_cblearn.py; METHOD is not looked at. IN also has `epochs`, and
`test`, triplets whose probabilities OUT gets (`probabilities`: that of the answer given, averaged
over draws from the posterior). Model and training are those of PsiZ's tutorial on variational
inference: normal places, a normal prior whose scale is learnt, exponential similarity with
beta = 10, Adam with rate 0.001, batches of 128, at most 1000 epochs, stopped when the loss has not
fallen for 100.
"""

import os
import sys
import time

os.environ |= {
    "KERAS_BACKEND": "tensorflow",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "CUDA_VISIBLE_DEVICES": "",
}

import keras
import numpy as np
import psiz
import tensorflow as tf
import tensorflow_probability as tfp

tf.config.threading.set_intra_op_parallelism_threads(1)
tf.config.threading.set_inter_op_parallelism_threads(1)

layers = psiz.keras.layers
constant = keras.initializers.Constant
SCALE = float(tfp.math.softplus_inverse(0.2))
BATCH, PATIENCE, DRAWS = 128, 100, 100


class Triplets(psiz.keras.StochasticModel):
    """Which of two objects is more like a third."""

    def __init__(self, n_objects, dim, n_answers):
        super().__init__(n_sample=1)
        posterior = layers.EmbeddingNormalDiag(
            n_objects + 1, dim, mask_zero=True, scale_initializer=constant(SCALE)
        )
        shared = layers.EmbeddingNormalDiag(
            1,
            1,
            loc_initializer=constant(0.0),
            scale_initializer=constant(SCALE),
            loc_trainable=False,
        )
        prior = layers.EmbeddingShared(n_objects + 1, dim, mask_zero=True, embedding=shared)
        self.places = layers.EmbeddingVariational(
            posterior=posterior, prior=prior, kl_weight=1 / n_answers, kl_n_sample=30
        )
        self.proximity = layers.Minkowski(
            rho_initializer=constant(2.0),
            w_initializer=constant(1.0),
            trainable=False,
            activation=layers.ExponentialSimilarity(
                beta_initializer=constant(10.0),
                tau_initializer=constant(1.0),
                gamma_initializer=constant(0.0),
                trainable=False,
            ),
        )
        self.choice = layers.SoftRank(n_select=1)

    def call(self, inputs):
        z = self.places(inputs["given2rank1_stimulus_set"])
        anchor, others = keras.ops.split(z, [1], axis=-2)
        return self.choice(self.proximity([anchor, others]))


def dataset(triplets):
    """PsiZ's objects count from 1; the answer that was given stands first."""
    content = psiz.data.Rank(triplets + 1, n_select=1)
    outcome = psiz.data.SparseCategorical(np.zeros((len(triplets), 1), dtype=int), depth=2)
    return psiz.data.Dataset([content, outcome]).export(with_timestep_axis=False).cache()


def fitted(dim, triplets, given):
    keras.utils.set_random_seed(int(given["seed"]))
    model = Triplets(int(given["n_objects"]), dim, len(triplets))
    model.compile(
        loss=keras.losses.CategoricalCrossentropy(),
        optimizer=keras.optimizers.Adam(learning_rate=0.001),
    )
    early = keras.callbacks.EarlyStopping("loss", patience=PATIENCE, mode="min")
    history = model.fit(
        dataset(triplets).shuffle(len(triplets)).batch(BATCH).prefetch(2),
        epochs=int(given["epochs"]),
        callbacks=[early],
        verbose=0,
    )
    return model, len(history.epoch)


def probabilities(model, triplets):
    model.n_sample = DRAWS
    said = model.predict(dataset(triplets).batch(BATCH), verbose=0)
    return said.reshape(len(triplets), -1)[:, 0]


def main(method, given_file, out):
    given = np.load(given_file)
    train, inner, dims = given["train"], given["inner"], given["dims"].tolist()
    start = time.process_time()
    if len(dims) > 1:
        scores = []
        for dim in dims:
            model, _ = fitted(dim, train[~inner], given)
            scores.append((probabilities(model, train[inner]) > 0.5).mean())
        dims = [dims[int(np.argmax(scores))]]
    chosen = time.process_time()
    model, epochs = fitted(dims[0], train, given)
    done = time.process_time()
    test = {"probabilities": probabilities(model, given["test"])} if len(given["test"]) else {}
    np.savez(
        out,
        embedding=np.asarray(model.places.posterior.embeddings.mean())[1:],
        dim=dims[0],
        epochs=epochs,
        fit_seconds=done - chosen,
        choice_seconds=chosen - start,
        **test,
    )


main(*sys.argv[1:])
