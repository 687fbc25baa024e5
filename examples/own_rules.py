"""Rules in sentences for an agent of your own; ``model`` and ``RIGHT`` stand for what you have."""

import random

import jitrl

RIGHT = {"Send the March report to Ann": "attach sheet", "Send the May report to Bob": "attach sheet",
         "Send the invoice to Ann": "attach page", "Send the photos to Bob": "share folder"}
TOOLS = ["attach page", "attach sheet", "attach text", "share folder"]


def model(notes, chance):
    """Your frozen model: it does what its notes say, else what comes to its mind."""
    told = [tool for tool in TOOLS if tool in notes]
    wanted = chance.choice(told or TOOLS)
    return {tool: float(tool == wanted) for tool in TOOLS}


def share(memory, rounds, seed, is_told=True):
    """Share of errands that are done right."""
    solved, chance = [], random.Random(seed)
    for _ in range(rounds):
        for goal, right in RIGHT.items():
            with memory.episode(goal, scope="mail") as episode:
                notes = episode.notes("The mail is open.", TOOLS) if is_told else ""
                tool = episode.decide("The mail is open.", model(notes, chance)).action
                episode.finish(outcome=tool == right)
            solved.append(tool == right)
    return sum(solved) / len(solved)


if __name__ == "__main__":
    with jitrl.open("rules.db", rules={"scores": False}) as memory:
        print(f"learning: {share(memory, 40, 1):.2f}")
        print(f"with rules: {share(memory, 40, 2):.2f}")
        print(f"without: {share(memory, 40, 3, is_told=False):.2f}")
        for rule in memory.store.rules():
            print(rule.status, "|", rule.text)
