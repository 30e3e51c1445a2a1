"""Define the state of averaged networks."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

import numpy as np

from committee import _engine
from committee.saving.format.fields import Fields
from committee.saving.predictors.deciders import TableDecider
from committee.saving.predictors.predictor import Predictor, Task, prepare
from committee.saving.states.state import Models, state_of, take_table
from committee.table.network_inputs import Inputs, fits
from committee.table.schema import Schema, Table
from committee.task import Classification

# The arrays of `Inputs` with numbers. The others contain indices or codes.
NUMBERS = ("medians", "centers", "spreads", "lows", "widths")
MOST_UNITS = 2**31 - 1
# The number of inputs that are computed at a time, and the minimum number of rows, which keeps threads busy.
NUMBERS_AT_ONCE, LEAST_AT_ONCE = 2**22, 2**12


@dataclass(frozen=True, eq=False)
class NetworkDecider(TableDecider):
    """The decider that averages networks.

    Parameters
    ----------
    inputs : Inputs
        The encoding of a table as inputs of the networks.
    hidden : tuple of int
        The number of units in each layer.
    parameters : ndarray of float32 of shape (n_members, n_parameters)
    n_outputs : int
    scaling : ndarray of float64 of shape (4,), or None
        The mean, the standard deviation and the range of the training numbers; None for classes.
    """

    inputs: Inputs
    hidden: tuple[int, ...]
    parameters: np.ndarray
    n_outputs: int
    scaling: np.ndarray | None

    def decide(self, table: Table, n_threads: int) -> np.ndarray:
        """Return the probabilities of classes, or numbers in the range of the training numbers."""
        n_at_once = max(LEAST_AT_ONCE, NUMBERS_AT_ONCE // self.inputs.n_inputs)
        votes = np.empty((table.n_rows, self.n_outputs))
        for begin in range(0, table.n_rows, n_at_once):
            end = min(begin + n_at_once, table.n_rows)
            votes[begin:end] = _engine.network_decision(
                self.inputs.encode(table.between(begin, end), n_threads),
                self.parameters,
                list(self.hidden),
                self.n_outputs,
                self.scaling is None,
                n_threads,
            )
        if self.scaling is None:
            return votes
        center, spread, low, high = self.scaling
        return np.clip(votes * spread + center, low, high)

    def in_half_precision(self) -> NetworkDecider:
        """Return the networks with parameters rounded to half precision. Clip them to its range."""
        most = np.finfo(np.float16).max
        rounded = np.clip(self.parameters, -most, most).astype(np.float16).astype(np.float32)
        return replace(self, parameters=rounded)


@state_of("NetworkClassifier", "NetworkRegressor")
@dataclass(frozen=True, eq=False)
class NetworkState:
    """Networks with their schema and task.

    Parameters
    ----------
    schema : Schema
    task : Classification or Regression
    network : NetworkDecider
    """

    schema: Schema
    task: Task
    network: NetworkDecider

    @classmethod
    def take(cls, fields: Fields, task_type: type[Task]) -> NetworkState:
        """Take networks from the fields of a file, and check that they fit the table."""
        schema, task = take_table(fields, task_type)
        return cls(schema, task, take_network(fields, schema, task))

    def learnt(self) -> dict[str, object]:
        """Return the fields for `take`."""
        network = self.network
        return {
            "schema": self.schema,
            "task": self.task,
            "inputs": {field.name: getattr(network.inputs, field.name) for field in fields(network.inputs)},
            "hidden": list(network.hidden),
            "parameters": narrowed(network.parameters),
            "scaling": network.scaling,
        }

    def predictor(self, models: Models, parameters: Mapping[str, object]) -> Predictor:
        """Return the predictor."""
        return prepare(self.network, self.schema, self.task)


def narrowed(parameters: np.ndarray) -> np.ndarray:
    """Return parameters in half precision if that does not change any, and unchanged otherwise."""
    with np.errstate(over="ignore"):
        half = parameters.astype(np.float16)
    return half if np.array_equal(half.astype(np.float32), parameters) else parameters


def take_network(taken: Fields, schema: Schema, task: Task) -> NetworkDecider:
    """Take the networks. Raise `DamagedFile` unless their arrays fit each other, the schema and the task."""
    described = taken.fields("inputs")
    arrays = {}
    for field in fields(Inputs):
        shape = (schema.n_columns,) if field.name == "medians" else (None,)
        dtype = np.float64 if field.name in NUMBERS else np.int64
        arrays[field.name] = described.array(field.name, dtype, shape)
    described.finish()
    inputs = Inputs(**arrays)
    lengths = [
        (inputs.scaled_columns, inputs.centers, inputs.spreads),
        (inputs.bin_columns, inputs.lows, inputs.widths),
        (inputs.value_columns, inputs.values),
    ]
    are_even = all(len({len(array) for array in group}) == 1 for group in lengths)
    taken.require(are_even and fits(inputs, schema), "the inputs do not fit the table")
    hidden = taken.take("hidden", list)
    are_counts = all(type(each) is int and 0 < each <= MOST_UNITS for each in hidden)
    taken.require(are_counts, "the number of units of a layer is not valid")
    widths = [inputs.n_inputs, *hidden, task.n_outputs]
    n_parameters = widths[0] + sum((before + 1) * after for before, after in itertools.pairwise(widths))
    stored = getattr(taken.values.get("parameters"), "dtype", None)
    precision = np.float16 if stored == np.float16 else np.float32
    parameters = taken.array("parameters", precision, (None, n_parameters)).astype(np.float32, copy=False)
    taken.require(len(parameters) > 0, "there is no network")
    scaling = taken.optional_array("scaling", np.float64, (4,))
    taken.require(
        (scaling is None) == isinstance(task, Classification),
        "scaling must be null if and only if the task is classification",
    )
    is_range = scaling is None or (scaling[1] > 0 and scaling[2] <= scaling[3])
    taken.require(is_range, "the standard deviation or the range of the numbers is not valid")
    return NetworkDecider(inputs, tuple(hidden), parameters, task.n_outputs, scaling)
