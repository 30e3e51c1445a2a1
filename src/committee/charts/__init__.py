"""What charts are drawn with: a canvas for lines, dots, boxes and words, and one look for all charts.

In: numbers and names. Out: charts of altair, which a notebook shows. Any layer above may draw its results.
"""
