"""Draw charts from lines, dots, boxes and words, in one style.

In: numbers and names. Out: altair charts, which a notebook shows. Any higher layer can use this package.
"""
