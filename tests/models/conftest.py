import modelfile
import numpy as np
import pytest

from jitrl.errors import ModelError
from jitrl.models import embedded


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def small_model(tmp_path_factory):
    """A model file of a network with random weights."""
    path = tmp_path_factory.mktemp("small") / "small.gguf"
    path.write_bytes(modelfile.network())
    return path


@pytest.fixture(scope="session")
def real_model():
    """The installed model file; skips where there is none."""
    try:
        return embedded.installed()
    except ModelError:
        pytest.skip("the embedded model is not installed (jitrl model install)")
