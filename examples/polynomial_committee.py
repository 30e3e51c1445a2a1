"""A committee of polynomials
==========================

Average polynomials that are fitted to noisy samples of a sine.

With independent samples, the error of a committee of flexible members is E_AV / M. With bootstrap samples of
one sample the errors are correlated, and the gain is smaller. A stiff member has a bias, which no average
removes.
"""

from committee.evaluating import polynomial_committee
from committee.printing import aligned


def main():
    rows = []
    for samples in ("independent", "bootstrap"):
        for degree in (1, 3, 5):
            found = polynomial_committee(degree, samples=samples, random_state=0)
            errors = found.errors
            numbers = (found.bias, found.variance, errors.e_av, errors.e_com, errors.limit)
            rows.append(
                [samples, str(degree), *(f"{each:.4f}" for each in numbers), f"{errors.correlation:.2f}"]
            )
    header = ["samples", "degree", "bias", "variance", "E_AV", "E_COM", "E_AV / M", "correlation"]
    print(aligned(header, rows, right=range(1, len(header))))


if __name__ == "__main__":
    main()
