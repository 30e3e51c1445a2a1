"""A callback of scikit-learn that writes down what it is told."""


class Diary:
    """Writes down what it is told, and asks to stop after some tasks."""

    def __init__(self, last=None):
        self.last = last
        self.lines = []
        # What the estimator so far said at the end of a task, where there was one. Not the estimator itself:
        # scikit-learn keeps callbacks, in a cache, as long as the process lives.
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
