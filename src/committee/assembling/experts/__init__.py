"""Fit mixtures of experts: members and the gate that weighs them learn together."""
