"""What transfer looks at in games of verbs and objects."""

from jitrl.core.features import SiteMap, Situation, features
from jitrl.types import State

NOWHERE = SiteMap({}, {})


def seen(actions, last="", taken=(), kind="words"):
    step = Situation("Tidy up.", State("a room"), last, actions, taken)
    return dict(zip(actions, features(kind, step, NOWHERE, lambda token: 0.0), strict=True))


def test_each_word_of_an_object_goes_with_where_it_is_put():
    f = seen(["put dirty red dress in laundry basket"])["put dirty red dress in laundry basket"]
    pairs = {name[2] for name in f if name[0] == "pair"}
    assert pairs == {"dirty", "red", "dress"}
    assert {name for name in f if name[0] == "fits"} == {
        ("fits", word, "laundry basket") for word in ("dirty", "red", "dress")
    }


def test_what_is_opened_is_looked_at_with_what_is_held():
    found = seen(["put red apple in bin", "put pear in bin", "open fridge", "move west"])
    fits = {name: value for name, value in found["open fridge"].items() if name[0] == "fits"}
    assert fits == {("fits", word, "fridge"): 1.0 for word in ("red", "apple", "pear")}
    shared = ("fits", "apple", "bin")
    assert shared in found["put red apple in bin"]
    assert shared not in found["put pear in bin"]


def test_where_nothing_is_held_nothing_is_asked_of_what_is_opened():
    assert not [
        name for name in seen(["open fridge", "take apple"])["open fridge"] if name[0] == "fits"
    ]


def test_going_back_is_another_repetition_than_taking_again():
    found = seen(["move west", "take apple"], taken=("move west", "take apple"))
    assert ("again", "move") in found["move west"]
    assert ("again", "take") in found["take apple"]
    page = seen(["click(<link[A]>)"], taken=("click(<link[A]>)",), kind="page")
    assert ("again",) in page["click(<link[A]>)"]


def test_features_do_not_depend_on_the_order_of_sets():
    actions = [f"put {thing} in bin" for thing in ("apple", "pear", "plum", "fig")]
    [names] = {tuple(seen([*actions, "open bin"])["open bin"]) for _ in range(3)}
    assert [name[1] for name in names if name[0] == "fits"] == ["apple", "pear", "plum", "fig"]
