"""What the cells say of the columns: advice that gives the right data when followed, or none."""

from __future__ import annotations

import numpy as np
import pytest

from trilens.errors import TrilensError
from trilens.statements import Statements
from trilens.statements.advice import advise

OBJECTS = [f"{word}.jpg" for word in ("cat", "dog", "cow", "fox", "owl", "hen", "emu", "bee")]


def questions(n: int = 60, seed: int = 0):
    """Three objects in a row and the place of the one that was chosen."""
    rng = np.random.default_rng(seed)
    shown = np.array([rng.choice(OBJECTS, 3, replace=False) for _ in range(n)])
    return shown, rng.integers(3, size=n), rng.integers(1, 3, size=n)


def table(names: str, cells) -> tuple[list[str], list[list[str]]]:
    return names.split(","), [[str(cell) for cell in row] for row in zip(*cells, strict=True)]


SHOWN, PLACE, SIDE = questions()
A, B, C = SHOWN.T
WHO = [f"w{i // 10}" for i in range(60)]
RT = [1.25 + i / 7 for i in range(60)]


def coded(codes: str) -> list[str]:
    return [codes.split()[k] for k in PLACE]


@pytest.mark.parametrize(
    ("names", "cells", "expected"),
    [
        (
            "participant,A,B,C,answer,rt",
            (WHO, A, B, C, coded("A B C"), RT),
            "chosen=answer,shown_1=A,shown_2=B,shown_3=C,rater=participant,seconds=rt",
        ),
        (
            "image_left,image_center,image_right,response",
            (A, B, C, coded("left middle right")),
            "chosen=response,shown_1=image_left,shown_2=image_center,shown_3=image_right",
        ),
        (
            "item_left,item_mid,item_right,resp",
            (A, B, C, coded("left middle right")),
            "chosen=resp,shown_1=item_left,shown_2=item_mid,shown_3=item_right",
        ),
        (
            "pic_right,pic_left,pic_mid,clicked_name",
            (C, A, B, coded("left center right")),
            "chosen=clicked_name,shown_1=pic_left,shown_2=pic_mid,shown_3=pic_right",
        ),
        (
            "nr,x,y,z,w",
            (range(60), A, B, C, SHOWN[np.arange(60), PLACE]),
            "chosen=w,shown_1=x,shown_2=y,shown_3=z",
        ),
        (
            "reference,A,B,answer",
            (A, B, C, ["AB"[k - 1] for k in SIDE]),
            "chosen=answer,anchor=reference,shown_1=A,shown_2=B",
        ),
    ],
)
def test_followed_advice_gives_the_right_data(names, cells, expected):
    header, rows = table(names, cells)
    advice = advise(header, rows)
    assert advice.columns == expected
    assert "in 60 of 60 rows" in advice.why
    frame = dict(zip(header, zip(*rows, strict=True), strict=True))
    from trilens.answers import Answers

    with pytest.raises(TrilensError) as caught:
        Statements({name: list(column) for name, column in frame.items()})
    assert expected in str(caught.value)
    kind = "odd" if advice.kinds else None
    data = {name: list(column) for name, column in frame.items()}
    S = Answers(data, columns=expected, kind=kind).read()
    read = [[S.names[i] for i in row] for row in S.triples.tolist()]
    if "reference" in header:
        true = [
            [a, b, c] if k == 1 else [a, c, b] for a, b, c, k in zip(A, B, C, SIDE, strict=True)
        ]
        assert read == true
    else:
        assert [row[0] for row in read] == SHOWN[np.arange(60), PLACE].tolist()
        assert [set(row) for row in read] == [set(row) for row in SHOWN.tolist()]


@pytest.mark.parametrize(
    ("names", "cells"),
    [
        ("nr,x,y,z", (range(60), A, B, C)),
        ("x,y,z,condition", (A, B, C, [1 + k for k in PLACE])),
        ("p1,p2,p3,vp", (A, B, C, [1 + k for k in PLACE])),
        ("x,y,z,block", (A, B, C, [1 + i // 20 for i in range(60)])),
        ("x,y,z,correct_answer", (A, B, C, SHOWN[np.arange(60), PLACE])),
        ("quality,x,y", (["100.0"] * 60, A, B)),
        ("subject,x,y,score", (WHO, A, B, RT)),
        ("reference,image_1,image_2,votes", (A, B, C, SIDE)),
        ("reference,image_1,image_2,vote_count", (A, B, C, SIDE)),
    ],
)
def test_no_advice_where_the_cells_do_not_tell(names, cells):
    advice = advise(*table(names, cells))
    assert advice.columns is None
    assert advice.why


@pytest.mark.parametrize(
    "name",
    [
        "farther",
        "rejected",
        "most_different",
        "dissimilar",
        "not_chosen",
        "least_similar",
        "odd_choice",
    ],
)
def test_the_object_that_was_not_taken_is_not_advised_as_the_answer(name):
    by_name = SHOWN[np.arange(60), SIDE]
    for cells in (by_name, ["AB"[k - 1] for k in SIDE], SIDE):
        advice = advise(*table(f"ref,A,B,{name}", (A, B, C, cells)))
        assert advice.columns is None
        assert f"{name} names the object that was not chosen" in advice.why
    assert advise(*table("ref,A,B,closer", (A, B, C, by_name))).columns is not None


def test_what_the_columns_are_called_tells_the_kind():
    names, rows = table("one,two,three,odd_answer", (A, B, C, SHOWN[np.arange(60), PLACE]))
    assert advise(names, rows).kinds == ("odd",)
    assert advise([*names[:3], "answer"], rows).kinds == ("central", "odd")
    assert advise([*names[:3], "answer"], rows, kind="odd").kinds == ()


def test_a_column_that_stays_for_many_rows_is_the_rater():
    names, rows = table("vp,x,y,z,w", (WHO, A, B, C, SHOWN[np.arange(60), PLACE]))
    assert advise(names, rows).columns.endswith(",rater=vp")


def test_a_response_id_is_no_answer():
    ids = [f"R_{i}" for i in range(60)]
    header = ["ResponseId", "image1", "image2", "image3", "Q1"]
    data = dict(zip(header, (ids, A, B, C, SHOWN[np.arange(60), PLACE]), strict=True))
    with pytest.raises(TrilensError, match="columns='chosen=Q1,shown_1=image1"):
        Statements({name: list(column) for name, column in data.items()})


def test_two_answers_that_differ_are_asked_about():
    right, given = SHOWN[np.arange(60), PLACE], SHOWN[:, 0]
    data = {"image1": A, "image2": B, "image3": C, "answer": right, "response": given}
    with pytest.raises(TrilensError, match="columns='chosen=response' or columns='chosen=answer'"):
        Statements({name: list(column) for name, column in data.items()})
    data["answer"] = given
    assert len(Statements({name: list(column) for name, column in data.items()})) == 60


def test_some_columns_said_and_the_others_recognised():
    from trilens.answers import Answers

    data = {"image1": A, "image2": B, "image3": C, "worker": WHO, "Q1": coded("1 2 3")}
    S = Answers({name: list(column) for name, column in data.items()}, columns="chosen=Q1").read()
    assert S.places.tolist() == PLACE.tolist()
    assert S.raters.tolist() == WHO


def test_the_middle_of_three_is_not_what_they_are_compared_with():
    data = {"Left": A, "Center": B, "Right": C, "Answer": coded("left center right")}
    S = Statements({name: list(column) for name, column in data.items()})
    assert S.kind == "central"
    assert S.places.tolist() == PLACE.tolist()
