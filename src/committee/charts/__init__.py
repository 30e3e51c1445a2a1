"""Draw charts from arrays and names: rank diagrams, matrices of pairs, scatters, boxes.

In: numbers as arrays and the names that belong to them. Out: charts of altair, which a notebook shows.
"""
