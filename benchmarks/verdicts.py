"""Compare medians of committee with targets. Each function returns one row of a result's `targets`.

A row with a missing value is "not measured", not met.
"""

US = "committee"


def ratio(readings, what, case, metric, *, times, peer=None):
    """Require that a peer, by default the cheapest one, costs at least `times` as much as committee."""
    others = [peer] if peer else _others(readings, case, metric)
    return ratio_among(readings, what, case, metric, times=times, peers=others, whose=peer or "the best peer")


def ratio_to_good(readings, what, case, metric, *, times, loss, percent):
    """Require the ratio to the cheapest peer whose loss is at most `percent` above the best peer's."""
    losses = {name: readings.median(case, name, loss) for name in _others(readings, case, loss)}
    limit = min(losses.values(), default=0.0) * (1 + percent / 100)
    good = [name for name in losses if losses[name] <= limit]
    whose = f"the fastest peer whose loss is within {percent:g} % of the best"
    return ratio_among(readings, what, case, metric, times=times, peers=good, whose=whose)


def ratio_among(readings, what, case, metric, *, times, peers, whose):
    """Require that the cheapest of some peers costs at least `times` as much as committee."""
    costs = {
        name: readings.median(case, name, metric) for name in peers if readings.values(case, name, metric)
    }
    ours = readings.median(case, US, metric)
    target = f"not above {whose}" if times == 1 else f">= {times:g}x less than {whose}"
    if not costs or not ours:
        return _verdict(what, target, "", None)
    best = min(costs, key=costs.get)
    measured = costs[best] / ours
    return _verdict(what, target, f"{measured:.2f}x ({best})", measured >= times)


def not_worse_by(readings, what, case, metric, *, peer, difference):
    """Require that a score, where larger is better, is at most `difference` below the peer's."""
    ours, theirs = readings.median(case, US, metric), readings.median(case, peer, metric)
    target = f"at most {difference:g} below {peer}"
    if ours is None or theirs is None:
        return _verdict(what, target, "", None)
    return _verdict(what, target, f"{ours:.4f} against {theirs:.4f}", ours >= theirs - difference)


def not_above(readings, what, case, metric, *, percent, peer=None):
    """Require that a loss is at most `percent` above that of a peer, by default the best one."""
    others = [peer] if peer else _others(readings, case, metric)
    losses = [readings.median(case, name, metric) for name in others if readings.values(case, name, metric)]
    ours, theirs = readings.median(case, US, metric), min(losses, default=None)
    whose = peer or "the best peer"
    target = f"at most {percent:g} % above {whose}" if percent else f"not above {whose}"
    if ours is None or theirs is None:
        return _verdict(what, target, "", None)
    return _verdict(what, target, f"{ours:.4f} against {theirs:.4f}", ours <= theirs * (1 + percent / 100))


def within_spread(readings, what, case, metric, *, peer):
    """Require that a loss does not exceed the worst of the peer's runs, which differ only in their seeds."""
    ours, theirs = readings.median(case, US, metric), readings.values(case, peer, metric)
    target = f"not above the worst seed of {peer}"
    if ours is None or not theirs:
        return _verdict(what, target, "", None)
    return _verdict(what, target, f"{ours:.4f} against {max(theirs):.4f}", ours <= max(theirs))


def in_turns(readings, what, case, metric, *, peer, percent):
    """Require that a cost, relative to interleaved runs of the peer, is at most `percent` above one."""
    ours = readings.median(case, US, metric)
    target = f"at most {percent:g} % above {peer}"
    if ours is None:
        return _verdict(what, target, "", None)
    return _verdict(what, target, f"{ours:.2f}x of {peer}'s time", ours <= 1 + percent / 100)


def at_most(readings, what, case, metric, *, limit, unit):
    """Require that a value is at most an absolute limit."""
    ours = readings.median(case, US, metric)
    if ours is None:
        return _verdict(what, f"<= {limit:g} {unit}", "", None)
    return _verdict(what, f"<= {limit:g} {unit}", f"{ours:.3g} {unit}", ours <= limit)


def at_least(readings, what, case, metric, *, limit):
    """Require that a share is at least a limit."""
    ours = readings.median(case, US, metric)
    if ours is None:
        return _verdict(what, f">= {limit:.0%}", "", None)
    return _verdict(what, f">= {limit:.0%}", f"{ours:.2%}", ours >= limit)


def proportional(readings, what, sizes, metric, *, limit):
    """Require that the cost is at most `limit` times proportional to the size.

    `sizes` maps cases to sizes, smallest first.
    """
    costs = [readings.median(case, US, metric) for case in sizes]
    target = f"<= {limit:g}x of proportional"
    if any(cost is None for cost in costs):
        return _verdict(what, target, "", None)
    first = next(iter(sizes.values()))
    growth = [(cost / costs[0]) / (size / first) for cost, size in zip(costs, sizes.values(), strict=True)]
    return _verdict(
        what, target, f"{max(growth[1:]):.2f}x at worst, {growth[-1]:.2f}x at the end", max(growth) <= limit
    )


def one_model(readings, what, case, metric):
    """Require that all models of a run are equal."""
    counts = readings.values(case, US, metric)
    if not counts:
        return _verdict(what, "one model", "", None)
    return _verdict(what, "one model", f"{max(counts)}", max(counts) == 1)


def nothing_failed(readings, what, case, *, count, failures):
    """Require that no attempt of any run failed."""
    tried, failed = readings.values(case, US, count), readings.values(case, US, failures)
    if not tried:
        return _verdict(what, "no failure", "", None)
    return _verdict(what, "no failure", f"{sum(failed)} of {sum(tried):,}", not sum(failed))


def _others(readings, case, metric):
    return [name for name in readings.peers(case, metric) if name != US]


def _verdict(what, target, measured, met):
    return {"what": what, "target": target, "measured": measured, "met": met}
