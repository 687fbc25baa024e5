import io
import math

import numpy as np
import pytest
from plainforward import PlainForward

from jitrl.errors import ConfigError, InputError
from jitrl.models.calls import Continue
from jitrl.models.embedded import Embedded, chat_tokens
from jitrl.models.gguf import GGUF
from jitrl.models.prompts import Style
from jitrl.models.tokenizer import Tokenizer
from jitrl.training import Example, Goal
from jitrl.types import Prompt

torch = pytest.importorskip("torch", reason="torch is not installed (extra lora)")
from jitrl.models.lora import LoraFactory, Reading, example_loss  # noqa: E402

pytestmark = pytest.mark.torch

PROMPTS = (
    Prompt("Read the reviews.", "Menu\nlink 'Marketing'", (), ("click(a)", "click(ab)", "back()")),
    Prompt("Cancel it.", "Order 7", ("click(x)",), ("cancel()",)),
    Prompt("查看评论。", "菜单", (), ("click(<link[评论]>)", "back()", "click(<link[订单]>)")),
)
STEP = PROMPTS[0]


def lora(path, *, reading=None, **changes):
    options = {
        "rank": 2,
        "alpha": 4.0,
        "layers": 0,
        "matrices": "attention",
        "rate": 0.02,
        "seed": 0,
    }
    return LoraFactory(reading or Reading(path))(**(options | changes))


def example(prompt=STEP, chosen=1, **more):
    return Example(prompt, (0.0,) * len(prompt.actions), chosen, **more)


def chances(model, prompt=STEP):
    z = model.corrections(prompt)
    return np.exp(z - np.logaddexp.reduce(z))


def frozen(made, prompt):
    """The frozen scores that corrections are differences from, [A]."""
    tokenizer, style = made._endpoint.load().tokenizer, made._style
    lead = style.template(prompt).action_lead
    asked = chat_tokens(tokenizer, Continue(style.messages(prompt), lead, ()))
    return made._network.step(asked, [tokenizer.encode(f" {a}") for a in prompt.actions]).plain


@pytest.mark.parametrize("length", ["sum", "mean"])
@pytest.mark.parametrize("layers", [0, 1, 2])
def test_the_frozen_scores_are_those_of_the_numpy_pass(small_model, rng, length, layers):
    made = lora(small_model, reading=Reading(small_model, length), layers=layers)
    numpy = Embedded(path=small_model, length=length)
    for prompt in PROMPTS:
        z = [c.logit for c in numpy.propose(prompt, rng).candidates]
        assert frozen(made, prompt).numpy() == pytest.approx(z, abs=1e-3)


@pytest.mark.model
def test_the_frozen_scores_of_the_real_model_are_those_of_the_numpy_pass(real_model, rng):
    made, numpy = lora(None, layers=4), Embedded()
    for prompt in PROMPTS:
        z = [c.logit for c in numpy.propose(prompt, rng).candidates]
        assert frozen(made, prompt).numpy() == pytest.approx(z, abs=1e-3)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("matrices", ["attention", "all"])
def test_trained_weights_are_what_a_plain_pass_with_merged_matrices_gives(
    small_model, layers, matrices
):
    made = lora(small_model, layers=layers, matrices=matrices)
    for _ in range(6):
        made.step([example()], Goal("likelihood"))
    file = GGUF(small_model)
    plain, merged, tokenizer = PlainForward(file), PlainForward(file), Tokenizer(file)
    for name in [n for n in made._weights if n.endswith(".a")]:
        layer, matrix, _ = name.split(".")
        a = made._weights[name].detach().numpy().astype(np.float64)
        b = made._weights[f"{layer}.{matrix}.b"].detach().numpy()
        norm = {"q": "attn", "k": "attn", "v": "attn", "gate": "ffn", "up": "ffn"}.get(matrix)
        part = "attn" if matrix in ("q", "k", "v") else "ffn"
        full = "attn_output" if matrix == "out" else f"{part}_{matrix}"
        gain = merged.w[f"blk.{layer}.{norm}_norm.weight"] if norm else 1.0
        merged.w[f"blk.{layer}.{full}.weight"] = (
            merged.w[f"blk.{layer}.{full}.weight"] + 2.0 * b @ a / gain
        )
    style = Style()
    for prompt in PROMPTS:
        lead = style.template(prompt).action_lead
        asked = chat_tokens(tokenizer, Continue(style.messages(prompt), lead, ()))
        differences = []
        for action in prompt.actions:
            tokens = tokenizer.encode(f" {action}")
            after, before = (f.continuation(asked, tokens).sum() for f in (merged, plain))
            differences.append(after - before)
        assert np.abs(differences).max() > 0.05
        assert made.corrections(prompt) == pytest.approx(differences, abs=2e-3)


def test_untrained_weights_add_exactly_nothing(small_model):
    made = lora(small_model)
    assert made.corrections(STEP).tolist() == [0.0, 0.0, 0.0]
    assert made._corrected(STEP).tolist() == [0.0, 0.0, 0.0]


def test_losses_are_those_of_the_formulas():
    base, z = (math.log(2.0), 0.0), torch.tensor([0.0, math.log(2.0)])  # frozen 2/3, 1/3; pi 1/2
    step = Prompt("g", "o", (), ("a", "b"))

    def both(objective, **more):
        made = Example(step, base, 1, **({"reference": math.log(0.25)} | more))
        own, apart = example_loss(z, made, Goal(objective, clip=0.2, beta=2.0))
        assert float(apart) == pytest.approx(0.5 * math.log(0.75) + 0.5 * math.log(1.5))
        return float(own)

    assert both("likelihood", advantage=3.0) == pytest.approx(3.0 * math.log(2.0))
    assert both("clipped", advantage=1.0) == pytest.approx(-1.2)  # the ratio is 2
    assert both("clipped", advantage=-1.0) == pytest.approx(2.0)
    assert both("squared", advantage=1.0) == pytest.approx((2.0 * math.log(2.0) - 1.0) ** 2)


def test_a_temperature_divides_frozen_logits_and_corrections_alike():
    made = Example(Prompt("g", "o", (), ("a", "b")), (2.0, 0.0), 0)
    own, _ = example_loss(torch.tensor([2.0, 0.0]), made, Goal("likelihood", temperature=2.0))
    assert float(own) == pytest.approx(math.log(1.0 + math.exp(-2.0)))


def test_an_objective_that_is_none_is_refused():
    with pytest.raises(ConfigError, match="likelihood, clipped, squared"):
        example_loss(torch.zeros(3), example(), Goal("hinge"))


def test_the_gradient_is_that_of_finite_differences(small_model):
    made, goal = lora(small_model, seed=3), Goal("clipped", kl=0.3)
    batch = [example(reference=-1.0, weight=2.0), example(PROMPTS[2], 0, advantage=-0.5)]
    for _ in range(3):
        made.step(batch, goal)

    def loss():
        shares = [e.weight / 3.0 for e in batch]
        with torch.no_grad():
            parts = [example_loss(made._corrected(e.prompt), e, goal) for e in batch]
        return sum(s * float(o + 0.3 * k) for s, (o, k) in zip(shares, parts, strict=True))

    weight = made._weights["1.v.b"]
    shares = torch.tensor([2.0 / 3.0, 1.0 / 3.0])
    total = sum(
        s * (own + 0.3 * apart)
        for s, e in zip(shares, batch, strict=True)
        for own, apart in [example_loss(made._corrected(e.prompt), e, goal)]
    )
    (gradient,) = torch.autograd.grad(total, [weight])
    place, tiny = divmod(int(gradient.abs().argmax()), weight.shape[1]), 2e-2
    sides = []
    for sign in (1.0, -1.0):
        with torch.no_grad():
            weight[place] += sign * tiny
        sides.append(loss())
        with torch.no_grad():
            weight[place] -= sign * tiny
    assert (sides[0] - sides[1]) / (2 * tiny) == pytest.approx(float(gradient[place]), rel=0.05)
    assert made.step(batch, goal).loss == pytest.approx(float(total.detach()), rel=1e-4)


def test_imitation_makes_the_action_likely(small_model):
    made = lora(small_model)
    losses = [made.step([example()], Goal("likelihood")).loss for _ in range(20)]
    assert losses[0] == pytest.approx(math.log(3.0), rel=1e-5)
    assert chances(made)[1] > 0.9


def test_beyond_its_clip_a_ratio_has_no_gradient(small_model):
    far = Goal("clipped")
    assert lora(small_model).step([example(reference=-5.0)], far).norm == 0.0
    assert lora(small_model).step([example(reference=-5.0, advantage=-1.0)], far).norm > 0.0


def test_the_squared_loss_ends_where_the_ratio_is_advantage_over_beta(small_model):
    made, start = lora(small_model, rate=0.01), math.log(1.0 / 3.0)
    goal = Goal("squared", beta=2.0)
    for _ in range(150):
        made.step([example(reference=start, advantage=1.0)], goal)
    assert math.log(chances(made)[1]) - start == pytest.approx(0.5, abs=0.05)


def test_a_penalty_on_the_divergence_keeps_the_policy_near_the_frozen_one(small_model):
    free, held = lora(small_model, rate=0.005), lora(small_model, rate=0.005)
    for _ in range(30):
        loose = free.step([example()], Goal("likelihood"))
        tight = held.step([example()], Goal("likelihood", kl=20.0))
    assert tight.kl < loose.kl / 4
    assert chances(free)[1] > chances(held)[1] > 1 / 3


def test_a_state_met_twice_counts_twice(small_model):
    once, twice = lora(small_model), lora(small_model)
    other = example(PROMPTS[2], 0)
    once.step([example(weight=2.0), other], Goal("likelihood"))
    twice.step([example(), example(), other], Goal("likelihood"))
    assert once.corrections(STEP) == pytest.approx(twice.corrections(STEP), abs=1e-5)


def test_the_same_training_gives_the_same_bits(small_model):
    models = [lora(small_model) for _ in range(2)]
    for made in models:
        for chosen in (0, 1, 2):
            made.step([example(chosen=chosen), example(PROMPTS[2], 1)], Goal("likelihood"))
    assert models[0].corrections(STEP).tolist() == models[1].corrections(STEP).tolist()


def test_kept_weights_go_on_as_if_nothing_had_happened(small_model, tmp_path):
    first = lora(small_model, checkpoint=tmp_path / "kept")
    assert first.restore() == ""
    first.step([example()], Goal("likelihood"))
    first.save("after one")
    second = lora(small_model, checkpoint=tmp_path / "kept")
    assert second.restore() == "after one"
    for made in (first, second):
        made.step([example()], Goal("likelihood"))
    assert first.corrections(STEP).tolist() == second.corrections(STEP).tolist()
    first.reset()
    assert first.corrections(STEP).tolist() == [0.0, 0.0, 0.0]
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_kept_weights_of_other_settings_or_a_damaged_file_are_as_good_as_none(
    small_model, tmp_path
):
    made = lora(small_model, checkpoint=tmp_path / "kept")
    made.step([example()], Goal("likelihood"))
    made.save("x")
    assert lora(small_model, checkpoint=tmp_path / "kept", rank=3).restore() == ""
    whole = (tmp_path / "kept").read_bytes()
    at = whole.index(b"PK\x01\x02")  # an entry of the archive's list
    method, key = (bytearray(whole) for _ in range(2))
    method[at + 10], key[at + 8] = 99, 1  # packed in an unknown way, encrypted
    for damaged in (whole[: len(whole) // 2], method, key, b"", _alone(np.zeros(3))):
        (tmp_path / "kept").write_bytes(damaged)
        assert lora(small_model, checkpoint=tmp_path / "kept").restore() == ""


def _alone(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"rank": 0}, "rank must be at least 1, got 0"),
        ({"layers": 3}, r"layers must be in \[0, 2\], got 3"),
        ({"rate": 0.0}, "rate must be finite and above 0"),
        ({"alpha": math.inf}, "alpha must be finite"),
    ],
)
def test_impossible_settings_are_refused(small_model, changes, said):
    with pytest.raises(ConfigError, match=said):
        lora(small_model, **changes)


def test_a_step_longer_than_the_context_is_refused(small_model):
    made = lora(small_model)
    with pytest.raises(InputError, match="context is 2048"):
        made.step([example(Prompt("g", "x" * 3000, (), ("a", "b")))], Goal("likelihood"))
