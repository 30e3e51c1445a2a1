"""Draw charts on a canvas of lines, dots, boxes and words, in one style.

In: numbers and names. Out: altair charts, which a notebook shows. Every higher layer can use this package.
"""
