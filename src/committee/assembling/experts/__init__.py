"""Mixtures of experts, in which members and the gate that weights them are fitted together."""
