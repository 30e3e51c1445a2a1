"""Colour-blind readers can distinguish the first colours of the palette."""

import itertools

import numpy as np
import pytest

from committee.charts.style import PALETTE, mixed

# From linear RGB to what readers without one kind of cones see (Machado, Oliveira and Fernandes 2009).
SEEN = {
    "all cones": np.eye(3),
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "tritanopia": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def lab_of(colour, seen):
    """Return the CIELAB coordinates of a colour, in which distances are perceived differences."""
    rgb = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = TO_XYZ @ np.clip(np.array(seen) @ linear, 0, 1) / TO_XYZ.sum(axis=1)
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("reader", SEEN)
@pytest.mark.parametrize(("share", "least"), [(1.0, 25.0), (0.3, 9.0)])
def test_the_colours_of_four_classes_are_distinct(reader, share, least):
    colours = [lab_of(mixed(colour, share), SEEN[reader]) for colour in PALETTE[:4]]
    for first, second in itertools.combinations(colours, 2):
        assert np.linalg.norm(first - second) > least
