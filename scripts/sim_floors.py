"""Lower bounds for the time of a product on a simulated machine, from the bytes that its nodes must send or receive."""
import collections
import math
import re

Axis = collections.namedtuple("Axis", "side pieces common")


def axis_of(layout, side, extent, processes):
    """The layout of one dimension of an operand (side 0: its rows) as ascending pieces (begin, end, owner).

    common: every process has all indices; the owner is then 0."""
    keys = ("nb", "inb", "csrc", "j") if side else ("mb", "imb", "rsrc", "i")
    block, first, source, at = (layout[key] for key in keys)
    if source < 0 or processes == 1:
        return Axis(side, [(0, extent, 0)], True)
    pieces, begin = [], 0
    while begin < extent:
        number = 0 if begin + at < first else 1 + (begin + at - first) // block
        end = min(extent, first + number * block - at)
        pieces.append((begin, end, (source + number) % processes))
        begin = end
    return Axis(side, pieces, False)


def overlaps(one, other):
    """{(owner in one, owner in the other): number of common indices} for two layouts of a dimension."""
    shared, i, j = collections.Counter(), 0, 0
    one, other = one.pieces, other.pieces
    while i < len(one) and j < len(other):
        shared[one[i][2], other[j][2]] += max(0, min(one[i][1], other[j][1]) - max(one[i][0], other[j][0]))
        if one[i][1] <= other[j][1]:
            i += 1
        else:
            j += 1
    return shared


def moved_elements(bench, order, where, stationary):
    """{host: [in, out]}: the numbers of elements of A and B that a host needs but does not own, and of C that it computes
    but does not own."""
    sizes, grid = {name: bench[name] for name in "mnk"}, bench["grid"]
    dims = {"A": "mk" if bench["transa"] == "N" else "km", "B": "kn" if bench["transb"] == "N" else "nk", "C": "mn"}
    axes = {name: {dim: axis_of(bench["layout"][name.lower()], side, sizes[dim], grid[side])
                   for side, dim in enumerate(pair)} for name, pair in dims.items()}
    members = collections.defaultdict(set)
    for rank in range(grid[0] * grid[1]):
        members[where[rank]].add(divmod(rank, grid[1]) if order == "R" else divmod(rank, grid[0])[::-1])

    def own(name, dim, place):
        return 0 if axes[name][dim].common else place[axes[name][dim].side]

    widths = {dim: collections.Counter() for dim in dims[stationary]}
    for dim, width in widths.items():
        for begin, end, owner in axes[stationary][dim].pieces:
            width[owner] += end - begin

    def works(place):  # whether a process owns a part of the stationary operand
        return all(width[own(stationary, dim, place)] for dim, width in widths.items())

    moved = {host: [0, 0] for host in members}
    for name in "ABC".replace(stationary, ""):
        pinned = (set(dims[name]) & set(dims[stationary])).pop()
        free = dims[name].replace(pinned, "")
        shared = overlaps(axes[name][pinned], axes[stationary][pinned])
        width = collections.Counter()
        for begin, end, owner in axes[name][free].pieces:
            width[owner] += end - begin
        for host, places in members.items():
            needs = collections.Counter()
            pins = {own(stationary, pinned, place) for place in places if works(place)}
            for (owner, pin), count in shared.items():
                needs[owner] += count if pin in pins else 0
            has = {(own(name, pinned, place), own(name, free, place)) for place in places}
            moved[host][name == "C"] += (sum(needs.values()) * sizes[free] -
                                         sum(needs[a] * width[b] for a, b in has))
    return moved


def least_words(m, n, k, processes):
    """The words that some process must send or receive, whatever its memory (Al Daas et al. 2022, Theorem 3)."""
    k, n, m = sorted((m, n, k))
    if processes * n <= m:
        touched = n * k + (m * n + m * k) / processes
    elif processes * k * k <= m * n:
        touched = 2 * math.sqrt(m * n / processes) * k + m * n / processes
    else:
        touched = 3 * (m * n * k / processes) ** (2 / 3)
    return max(0.0, touched - (m * n + m * k + n * k) / processes)


def floors_of(bench, order, where, platform):
    """Lower bounds in bytes and seconds: for any algorithm (theory_), for plans with this stationary operand (node_).

    None if they are unknown, as with layers, or in order A, whose tiles only the library knows."""
    stationary = re.search(r"\bstationary=([ABC])\b", bench.get("plan", ""))
    if not (stationary and platform.bw and platform.ports) or "layers=" in bench["plan"] or order == "A":
        return None
    if bench["m"] * bench["n"] * bench["k"] == 0 or bench.get("alpha") in (0, [0, 0]):  # A and B are not read
        return None
    word, rate = {"s": 4, "d": 8, "c": 8, "z": 16}[bench["type"]], platform.bw * platform.ports
    moved = moved_elements(bench, order, where, stationary[1])
    host = max(moved, key=lambda one: max(moved[one]))
    least = least_words(bench["m"], bench["n"], bench["k"], len(moved)) * word
    return {"node": platform.hosts[host], "node_bytes": max(moved[host]) * word, "node_links_bandwidth": rate,
            "node_s": max(moved[host]) * word / rate, "nodes": len(moved), "theory_bytes": least,
            "theory_s": least / (2 * rate)}  # a port sends and receives at the same time
