"""Show comparisons as charts and tables: critical difference diagrams, boxes, scatters, matrices, times."""

from committee.reporting.chart_files import save_picture
from committee.reporting.pair_charts import comparison_matrix, pairwise_scatter
from committee.reporting.rank_charts import critical_difference_diagram, rank_boxes
from committee.reporting.study_report import Report, charts_of, write_report
from committee.reporting.text_tables import p_value_table, rank_table, score_table, wins_table
from committee.reporting.time_charts import time_against_error, time_against_rank

__all__ = [
    "Report",
    "charts_of",
    "comparison_matrix",
    "critical_difference_diagram",
    "p_value_table",
    "pairwise_scatter",
    "rank_boxes",
    "rank_table",
    "save_picture",
    "score_table",
    "time_against_error",
    "time_against_rank",
    "wins_table",
    "write_report",
]
