"""Rules in sentences for your own agent; ``model`` and ``ERRANDS`` stand for what you have."""

import random

import jitrl

ERRANDS = {
    "Send the March report to Ann": "attach sheet",
    "Send the May report to Bob": "attach sheet",
    "Send the photos to Bob": "share folder",
}
TOOLS = ["attach page", "attach sheet", "attach text", "share folder"]


def model(notes: str, chance: random.Random) -> dict[str, float]:
    """Your frozen model: it does what its notes say, else what comes to its mind."""
    wanted = chance.choice([tool for tool in TOOLS if tool in notes] or TOOLS)
    return {tool: float(tool == wanted) for tool in TOOLS}


def share(memory: jitrl.JitRL, rounds: int, is_told: bool = True) -> float:
    """Share of errands that are done right."""
    solved, chance = list[bool](), random.Random(rounds)
    for errand in [*ERRANDS] * rounds:
        with memory.episode(errand, scope="mail") as episode:
            notes = episode.notes("The mail is open.", TOOLS) if is_told else ""
            tool = episode.decide("The mail is open.", model(notes, chance)).action
            solved.append(tool == ERRANDS[errand])
            episode.finish(outcome=solved[-1])
    return sum(solved) / len(solved)


if __name__ == "__main__":
    with jitrl.open("rules.db", rules={"scores": False}) as memory:
        print(f"learning {share(memory, 40):.2f}, then {share(memory, 30):.2f} of errands right")
        print(f"without its rules {share(memory, 30, is_told=False):.2f}")
        for rule in memory.store.rules():
            print(f"{rule.status}: {rule.text}")
