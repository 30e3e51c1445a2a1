"""What of the caller's surroundings a task must see to do the same in another thread or process.

scikit-learn keeps its configuration for each thread, and Python the filters of warnings for each process: one
that makes a warning an error, or ignores it, must do so in a task too.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

Configuration = dict[str, Any] | None
Filters = list[tuple[Any, ...]]


def configuration() -> Configuration:
    """scikit-learn's configuration in this thread; None if it is not loaded, and so not changed."""
    sklearn = sys.modules.get("sklearn")
    return None if sklearn is None else sklearn.get_config()


@contextmanager
def configured(configuration: Configuration) -> Iterator[None]:
    """Let scikit-learn have a configuration for a while."""
    if configuration is None:
        yield
        return
    import sklearn

    with sklearn.config_context(**configuration):
        yield


def warning_filters() -> Filters:
    """The filters of warnings of this process."""
    return list(warnings.filters)


def filter_warnings(filters: Filters) -> None:
    """Let this process have some filters of warnings."""
    warnings.resetwarnings()
    for action, message, category, module, line in reversed(filters):
        warnings.filterwarnings(action, _text(message), category, _text(module), line)


def _text(pattern: Any) -> str:
    return "" if pattern is None else getattr(pattern, "pattern", pattern)
