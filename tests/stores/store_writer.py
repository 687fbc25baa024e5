"""A writer process for the tests: commits episodes and notes in a file what was acknowledged.

    python store_writer.py MEMORY ACKNOWLEDGED NAME COUNT

Starts after the last episode in ACKNOWLEDGED, which it commits once more first.
"""

import sys
from pathlib import Path

from jitrl.stores.sqlite import SQLiteStore
from jitrl.testing.store_samples import put, sample_episode

ROWS = 10


def main(memory: str, acknowledged: str, name: str, count: int) -> None:
    file = Path(acknowledged)
    done = len(file.read_text().splitlines()) if file.exists() else 0
    with SQLiteStore(memory) as store, file.open("a") as notes:
        print("open", flush=True)
        for i in range(max(0, done - 1), count):
            receipt = put(store, sample_episode(f"{name}.{i}", steps=ROWS, scope=name))
            if i < done:
                assert receipt.duplicate, f"{receipt} was acknowledged before"
                continue
            notes.write(f"{receipt.key}\n")
            notes.flush()
        receipt = put(store, sample_episode(f"{name}.{count - 1}", steps=ROWS, scope=name))
        assert receipt.duplicate, receipt


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))
