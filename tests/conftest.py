"""Settings shared by all tests: a failing test must fail again when it is run again."""

import numpy as np
import pytest
from hypothesis import settings

# A slow machine is not a failing test.
settings.register_profile("committee", deadline=None, derandomize=True)
settings.load_profile("committee")


@pytest.fixture(autouse=True)
def seed():
    """What draws without a `random_state` draws by numpy's global generator."""
    np.random.seed(0)
