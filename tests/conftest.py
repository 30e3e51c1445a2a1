"""Settings shared by all tests."""

from hypothesis import settings

# A slow machine is not a failing test, and a failing test must fail again when it is run again.
settings.register_profile("committee", deadline=None, derandomize=True)
settings.load_profile("committee")
