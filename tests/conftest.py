"""Settings shared by all tests. They make failures reproducible."""

import numpy as np
import pytest
from hypothesis import settings

# A slow machine must not make a test fail.
settings.register_profile("committee", deadline=None, derandomize=True)
settings.load_profile("committee")


@pytest.fixture(autouse=True)
def seed():
    """Seed numpy's global generator, which is used without a `random_state`."""
    np.random.seed(0)
