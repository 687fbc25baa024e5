import json

import pytest
from pasts import past

from jitrl.agents.induction import Workflow, abstracted, induced
from jitrl.agents.workflows import read_workflows
from jitrl.envs.backoffice import Backoffice

CANCEL = ("click(<link[Orders]>)", 'fill(<textbox[Search]>, "{}")', "click(<link[{}]>)")


def searched(key, order, *more, task=None, goal="Cancel order {}."):
    pages = ["home", "orders", f"orders?{order}", f"order/{order}"]
    actions = [a.format(order) for a in (*CANCEL, *more)]
    steps = [f"{page}:{action}" for page, action in zip(pages, actions, strict=False)]
    return past(key, *steps, task=task or key, goal=goal.format(order))


def test_values_of_the_goal_become_placeholders():
    flow = abstracted("Cancel order 9166.", [a.format("9166") for a in CANCEL])
    assert flow == Workflow(
        "Cancel order {value 1}.",
        (
            "click(<link[Orders]>)",
            'fill(<textbox[Search]>, "{value 1}")',
            "click(<link[{value 1}]>)",
        ),
    )


def test_what_the_goal_asks_to_be_done_is_no_value():
    flow = abstracted("Cancel order 9166.", ["click(<button[Cancel]>)"])
    assert flow.steps == ("click(<button[Cancel]>)",)


def test_values_are_numbered_as_the_goal_names_them():
    flow = abstracted(
        'Show the list "Low Stock", but only Tops.',
        ['select(<combobox[Category]>, "Tops")', "click(<link[Low Stock]>)"],
    )
    assert flow == Workflow(
        'Show the list "{value 1}", but only {value 2}.',
        ('select(<combobox[Category]>, "{value 2}")', "click(<link[{value 1}]>)"),
    )


def test_a_number_inside_a_label_is_a_value_and_part_of_a_longer_one_is_not():
    assert abstracted("Open 50.", ["click(<link[Order 50]>)"]).steps == (
        "click(<link[Order {value 1}]>)",
    )
    assert abstracted("Open 50.", ["click(<link[505]>)"]).steps == ("click(<link[505]>)",)


def test_in_chinese_only_quoted_values_and_numbers_are_taken():
    flow = abstracted(
        "在订单 5086 中找到“低库存”。",
        ["click(<link[订单]>)", "click(<link[5086]>)", "click(<link[低库存]>)"],
    )
    assert flow == Workflow(
        "在订单 {值1} 中找到“{值2}”。",
        ("click(<link[订单]>)", "click(<link[{值1}]>)", "click(<link[{值2}]>)"),
    )


@pytest.mark.parametrize("language", ["en", "zh"])
def test_orders_of_the_back_office_share_one_workflow(language):
    env = Backoffice(templates=["orders:cancel"], instances=4, language=language)
    tasks = [t for t in env.tasks() if "cancel" in t.id]
    flows = {abstracted(t.goal, env.oracle(t)).steps for t in tasks if len(env.oracle(t)) == 5}
    assert len(flows) == 1


def test_tasks_that_differ_in_a_value_have_their_whole_way_in_common():
    found = induced([searched("a", "11"), searched("b", "22")], 1.0)
    assert [flow.steps for flow in found] == [
        abstracted("x 11", [a.format(11) for a in CANCEL]).steps
    ]
    assert found[0].title == "Cancel order {value 1}."


def test_a_part_that_more_tasks_share_comes_first_and_wholes_follow():
    one = searched("a", "11", "click(<button[Cancel]>)")
    other = searched("b", "22", "click(<button[Hold]>)", goal="Hold order {}.")
    found = induced([one, other], 1.0)
    assert [len(flow.steps) for flow in found] == [3, 4, 4]
    assert found[0].title == "Cancel order {value 1}. / Hold order {value 1}."


def test_the_shortest_success_of_a_task_speaks_for_it():
    long = past("a", "hall:in", "room:on", "loft:up", "attic:take", task="t")
    short = past("b", "hall:up", "attic:take", task="t")
    assert [flow.steps for flow in induced([long, short], 1.0)] == [("up", "take")]


def test_failures_and_single_steps_make_no_workflow():
    failed = past("a", "hall:up", "attic:take", rewards=[0.0, 0.5])
    single = past("b", "hall:take", task="u")
    assert induced([failed, single], 1.0) == ()


def test_a_written_answer_is_read_and_one_step_is_no_workflow():
    flows = [
        {"description": " Find  it ", "steps": ["a", " b "]},
        {"description": "short", "steps": ["a"]},
    ]
    answer = f"Here:\n```json\n{json.dumps({'workflows': flows})}\n```"
    assert read_workflows(answer) == (Workflow("Find it", ("a", "b")),)


@pytest.mark.parametrize(
    "answer",
    [
        "none",
        "[]",
        "{",
        "{}",
        '{"workflows": 3}',
        '{"workflows": ["a"]}',
        '{"workflows": [{"description": "d", "steps": [1, 2]}]}',
        '{"workflows": [{"steps": ["a", "b"]}]}',
    ],
)
def test_an_answer_of_another_form_cannot_be_read(answer):
    with pytest.raises(ValueError):
        read_workflows(answer)
