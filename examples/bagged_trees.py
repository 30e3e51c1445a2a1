"""Bagged trees on simulated rows
==============================

Bag trees on 30 simulated rows: consensus of labels against averaged probabilities.

A single tree is unstable on so few rows. Bagged trees have a smaller error, and averaged probabilities are
somewhat better than the consensus of labels. No classifier can have a smaller error than 0.2.
"""

from committee.evaluating import bagging_errors
from committee.printing import aligned


def main():
    found = bagging_errors(n_estimators=200, n_samples=50, random_state=0)
    rows = [
        [str(size), f"{found.consensus[size - 1]:.3f}", f"{found.probability[size - 1]:.3f}"]
        for size in (1, 2, 5, 10, 20, 50, 100, 200)
    ]
    print(aligned(["trees", "consensus", "probability"], rows, right=[0, 1, 2]))
    print(f"The original tree: {found.original:.3f}. The best possible classifier: {found.bayes:.3f}.")


if __name__ == "__main__":
    main()
