"""A callback of scikit-learn that records its calls."""


class CallLog:
    """A record of the calls, which requests a stop after some tasks."""

    def __init__(self, last=None):
        self.last = last
        self.lines = []
        # The predictions of the estimator at the end of a task. The estimator itself is not stored, because
        # scikit-learn keeps callbacks in a cache until the process ends.
        self.predictions = {}

    def setup(self, estimator, context):
        self.lines.append("setup")

    def teardown(self, estimator, context):
        self.lines.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.lines.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, X, y, fitted_estimator):
        self.lines.append(f"end {context.task_name}")
        if fitted_estimator is not None:
            self.predictions.setdefault(context.task_name, []).append(fitted_estimator.predict(X))
        return context.task_name != "fit" and context.task_id + 1 == self.last
