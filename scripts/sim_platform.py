"""The machines that hsumma_sim simulates: SimGrid's platform file, the placement of ranks, the library's profile."""
import collections
import itertools
import math
import os
import re
import xml.etree.ElementTree as elements

RATES = {f"{prefix}{unit}": factor / bits for unit, bits in (("Bps", 1), ("bps", 8)) for prefix, factor in
         (("", 1), ("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12), ("Ki", 2**10), ("Mi", 2**20), ("Gi", 2**30))}
TIMES = {"": 1, "s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


class Wrong(Exception):
    """The input is wrong; the text is a one-line reason."""


def quantity(text, what, units):
    """The value of a positive number with a unit, or of 0; `what` is its name in the error message."""
    parts = re.fullmatch(r"(\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)([A-Za-z]*)", text)
    if not parts or parts[2] not in units:
        raise Wrong(f"{what} is \"{text}\"; expected a number (units: {', '.join(filter(None, units)) or 'none'})")
    return float(parts[1]) * units[parts[2]]


def whole(text, what, least=1):
    if not text.isdecimal() or int(text) < least:
        raise Wrong(f"{what} is \"{text}\"; expected a whole number of at least {least}")
    return int(text)


class Platform:
    """A simulated machine.

    hosts: names; ports: number of links into a host, each of rate bw; hops: number of link latencies on a typical route
    between two hosts; flow: the highest rate of one message between hosts, 0 if that is bw; backbone: the rate of all
    messages together, 0 if there is no limit."""

    def __init__(self, text, hosts, ppn, xml, **network):
        self.text, self.hosts, self.ppn, self.xml = text, hosts, ppn, xml
        self.bw = self.lat = self.ports = self.hops = self.node_bw = self.node_lat = None
        self.overhead, self.flow, self.backbone, self.shape, self.fabric = 0.0, 0.0, 0.0, (), None
        self.__dict__.update(network)


Topology = collections.namedtuple("Topology", "hosts ports hops shape fabric", defaults=[(), None])


def product(numbers):
    return "x".join(map(str, numbers))


def torus(parameters):
    shape = tuple(whole(size, "a size of the torus") for size in parameters.split(","))
    hosts = math.prod(shape)
    if shape.count(1) > 1:  # SimGrid 3.32 would give two links the same name
        raise Wrong(f"the torus is \"{parameters}\"; expected at most one dimension of size 1")
    ways = sum(sum(min(i, n - i) for i in range(n)) / n for n in shape)
    # In a dimension of size 2 two links join the two hosts; SimGrid's routing uses one.
    return Topology(hosts, sum(min(n - 1, 2) for n in shape), ways * hosts / max(hosts - 1, 1), shape,
                    ("torus", product(shape)))


def fields_of(parameters, name, form, count):
    fields = [[whole(number, f"a number of the {name}") for number in field.split(",")]
              for field in parameters.replace(" ", "").split(";")]
    if len(fields) != count:
        raise Wrong(f"the {name} is \"{parameters}\"; expected {form}, in quotes")
    return fields


def fat_tree(parameters):
    form = "LEVELS;CHILDREN,...;PARENTS,...;CABLES,... with a number for each level"
    levels, down, up, cables = fields_of(parameters, "fat tree", form, 4)
    if len(levels) != 1 or {len(down), len(up), len(cables)} != {levels[0]}:
        raise Wrong(f"the fat tree is \"{parameters}\"; expected {form}, in quotes")
    return Topology(math.prod(down), up[0] * cables[0], 2 * levels[0], fabric=("tree", f"{product(down)}/{product(up)}/{product(cables)}"))


def dragonfly(parameters):
    form = "GROUPS,CABLES;CHASSIS,CABLES;ROUTERS,CABLES;NODES"
    groups, chassis, routers, nodes = fields_of(parameters, "dragonfly", form, 4)
    if [len(groups), len(chassis), len(routers), len(nodes)] != [2, 2, 2, 1]:
        raise Wrong(f"the dragonfly is \"{parameters}\"; expected {form}, in quotes")
    if groups[0] > routers[0]:  # group g is reached through router g; otherwise SimGrid 3.32 crashes
        raise Wrong(f"the dragonfly has {groups[0]} groups; expected at most the routers in a chassis, {routers[0]}")
    sizes, cables = zip(groups, chassis, routers)
    return Topology(math.prod(sizes) * nodes[0], 1, 5, fabric=("dragonfly", f"{product([*sizes, *nodes])}/{product(cables)}"))


MOST_RANKS = 2**20
TOPOLOGIES = {"torus": ("TORUS", torus), "bgp": ("TORUS", torus), "fattree": ("FAT_TREE", fat_tree),
              "dragonfly": ("DRAGONFLY", dragonfly)}
EXAMPLES = {"TORUS": "8x8x8", "FAT_TREE": "2;4,4;1,2;1,2", "DRAGONFLY": "3,4;4,3;5,1;2"}
XML = """<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="net" prefix="node" suffix="" radical="0-{last}" speed="1Gf" core="{ppn}"
      bw="{bw:.10g}Bps" lat="{link_lat:.10g}s" sharing_policy="SPLITDUPLEX"
      loopback_bw="{node_bw:.10g}Bps" loopback_lat="{node_lat:.10g}s"{more}/>
</platform>
"""
KEYS = {"bw": RATES, "lat": TIMES, "node_bw": RATES, "node_lat": TIMES, "overhead": TIMES}
COMMON = {"ppn": "1", "bw": None, "lat": None, "node_bw": "4GBps", "node_lat": "1us", "overhead": "0"}
FLAT = {"nodes": None, **COMMON, "flow": "0Bps"}
PRESETS = {"hockney": FLAT, "cluster": {**FLAT, "backbone": "0Bps"}, "torus": COMMON, "fattree": COMMON,
           "dragonfly": COMMON, "graphene": {**FLAT, "nodes": "128", "bw": "125MBps", "lat": "100us"},
           # BlueGene/P's published figures: 425 MB/s and about 100 ns per link. With the overhead, the latency is the 3
           # us of the HSUMMA paper.
           "bgp": {**COMMON, "ppn": "4", "bw": "425MBps", "lat": "100ns", "overhead": "2.9us"}}


def parameters_of(kind, text):
    """The shape and {key: value} of a platform, with the preset's values for keys that are not given."""
    words = [word for word in text.split(",") if word]
    shape = list(itertools.takewhile(lambda word: "=" not in word, words))  # fat trees use commas inside their shape
    given = dict(PRESETS[kind])
    for word in words[len(shape):]:
        key, _, value = word.partition("=")
        if key not in given or not value:
            raise Wrong(f"--platform {kind}: \"{word}\"; expected {', '.join(f'{key}=...' for key in given)}")
        given[key] = value
    for key, value in given.items():
        if value is None:
            raise Wrong(f"--platform {kind}: {key}=... is missing")
    return ",".join(shape), given


def platform_of(text):
    """The Platform for the text of --platform."""
    kind, _, rest = text.partition(":")
    if kind not in PRESETS:
        if os.path.isfile(text):
            return platform_of_file(text)
        raise Wrong(f"--platform is \"{text}\"; expected a file, or {', '.join(PRESETS)} with parameters")
    shape, given = parameters_of(kind, rest)
    name, read = TOPOLOGIES.get(kind, (None, None))
    if shape and not name:
        raise Wrong(f"--platform {kind}: \"{shape}\"; expected KEY=VALUE")
    if name and not shape:
        raise Wrong(f"--platform {kind}: the shape is missing; expected one such as {kind}:{EXAMPLES[name]}")
    network = {key: quantity(given[key], f"--platform {kind}: {key}", units) for key, units in KEYS.items()}
    for key in ("bw", "node_bw"):
        if not network[key]:
            raise Wrong(f"--platform {kind}: {key} is \"{given[key]}\"; expected a rate above 0")
    ppn = whole(given["ppn"], f"--platform {kind}: ppn")
    if name:
        shape = shape.replace("x", ",") if name == "TORUS" else shape
        made, link_lat, more = read(shape), network["lat"], f' topology="{name}" topo_parameters="{shape}"'
    else:  # a message crosses two links
        made = Topology(whole(given["nodes"], f"--platform {kind}: nodes"), 1, 1)
        link_lat, more = network["lat"] / 2, ""
    backbone, flow = (quantity(given.get(key, "0Bps"), f"--platform {kind}: {key}", RATES) for key in ("backbone", "flow"))
    if backbone and flow:
        raise Wrong(f"--platform {kind}: backbone is {given['backbone']} and flow {given['flow']}; expected one of them")
    if flow > network["bw"]:
        raise Wrong(f"--platform {kind}: flow is {given['flow']}; expected at most bw, {given['bw']}")
    if backbone or flow:  # every message has the whole rate of a "fat pipe" for itself
        more += f' bb_bw="{backbone or flow:.10g}Bps" bb_lat="0s"' + ' bb_sharing_policy="FATPIPE"' * (flow > 0)
    if made.hosts * ppn > MOST_RANKS:
        raise Wrong(f"--platform {kind}: {made.hosts} hosts of {ppn} ranks; expected at most {MOST_RANKS} ranks")
    hosts = [f"node{i}" for i in range(made.hosts)]
    xml = XML.format(last=made.hosts - 1, ppn=ppn, link_lat=link_lat, more=more, **network)
    return Platform(text, hosts, ppn, xml, ports=made.ports, hops=made.hops, shape=made.shape, fabric=made.fabric, flow=flow,
                    backbone=backbone, **network)


def hosts_of_cluster(cluster, what):
    for part in cluster.get("radical", "").split(","):
        ends = [whole(end, f"{what}: radical", 0) for end in part.split("-")]
        for i in range(ends[0], ends[-1] + 1):
            yield f'{cluster.get("prefix", "")}{i}{cluster.get("suffix", "")}'


def platform_of_file(path):
    """The Platform of a file in SimGrid's XML: hosts; the network only for one cluster with full duplex links."""
    what = f"--platform {path}"
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        tree = elements.fromstring(text)
    except (OSError, UnicodeError, elements.ParseError) as error:
        raise Wrong(f"{what}: {error}") from None
    found, hosts = [one for one in tree.iter() if one.tag in ("host", "cluster")], []
    for one in found:
        hosts += [one.get("id")] if one.tag == "host" else hosts_of_cluster(one, what)
    if not hosts:
        raise Wrong(f"{what}: expected a SimGrid platform file with host or cluster elements")
    network, one = {}, found[0]
    if len(found) == 1 and one.tag == "cluster" and one.get("sharing_policy", "SPLITDUPLEX") == "SPLITDUPLEX":
        read = dict(TOPOLOGIES.values()).get(one.get("topology"))
        made = read(one.get("topo_parameters", "")) if read else Topology(len(hosts), 1, 2)
        network = {"ports": made.ports, "hops": made.hops, "shape": made.shape, "fabric": made.fabric}
        for key, name in (("bw", "bw"), ("lat", "lat"), ("node_bw", "loopback_bw"), ("node_lat", "loopback_lat")):
            if one.get(name):
                network[key] = quantity(one.get(name), f"{what}: {name}", KEYS[key])
    ppn = min(whole(one.get("core", "1"), f"{what}: core") for one in found)
    return Platform(path, hosts, ppn, text, **network)


def placement(word, platform, ranks):
    """The number of the host of each rank, for the text of --map."""
    hosts, ppn, letters = len(platform.hosts), platform.ppn, "XYZ"[:len(platform.shape)]
    if word in ("block", "cyclic"):
        where = [rank // ppn if word == "block" else rank % hosts for rank in range(hosts * ppn)]
    elif letters and sorted(word) == sorted(letters + "T") and len(platform.shape) <= 3:
        extent = dict(zip(letters, platform.shape), T=ppn)
        stride = {letter: math.prod(platform.shape[:i]) for i, letter in enumerate(letters)}
        where = []
        for digits in itertools.product(*(range(extent[letter]) for letter in reversed(word))):
            where.append(sum(stride.get(letter, 0) * digit for letter, digit in zip(reversed(word), digits)))
    elif os.path.isfile(word):
        with open(word, encoding="utf-8", errors="replace") as file:
            where = [whole(line.strip(), f"--map {word}: line {i}", 0) for i, line in enumerate(file, 1)]
        beyond = [host for host in where if host >= hosts]
        if beyond or not where:
            raise Wrong(f"--map {word}: {f'host {beyond[0]}' if beyond else 'no line'}; expected 0 to {hosts - 1}")
    else:
        orders = f", an order of {letters}T" if letters else ""
        raise Wrong(f"--map is \"{word}\"; expected block, cyclic{orders}, or a file with one host number per line")
    host, most = max(collections.Counter(where).items(), key=lambda item: item[1])
    if most > ppn:
        raise Wrong(f"--map {word}: {most} ranks on host {host}; expected at most {ppn} (the platform's ppn)")
    if ranks is not None and ranks > len(where):
        raise Wrong(f"--ranks is {ranks}; expected at most {len(where)}, the ranks of the platform and its map")
    return where[:ranks]


def profile_of(platform, where, gemm):
    """The text of the library's profile of the simulated machine: its network, and the cost of computing."""
    lines = {}
    if platform.bw and platform.lat is not None:
        lines["network.alpha_s"] = platform.overhead + platform.lat * (platform.hops or 1)
        lines["network.beta_s_per_byte"] = 1 / (platform.flow or platform.bw)
        ranks = collections.Counter(where).values()
        inject = 1 / (platform.bw * max(platform.ports, 1)) if max(ranks) > 1 else 0
        # as the library measures it: half of the nodes send at once
        lines["inject_s_per_byte"] = max(inject, len(ranks) / 2 / platform.backbone) if platform.backbone else inject
        lines["overlap"] = lines["pipelining"] = 1  # the network progresses messages by itself
        lines["network.overhead_s"] = max(platform.overhead, 1e-9)  # latency keeps no port busy
        lines["ports"] = max(platform.ports, 1)
    if platform.node_bw:
        lines["node.alpha_s"] = platform.overhead + (platform.node_lat or 0)
        lines["node.beta_s_per_byte"] = 1 / platform.node_bw
    text = "hsumma profile 1\n" + "".join(f"{name} {value:.10g}\n" for name, value in lines.items())
    if gemm == "free":
        for kind in ("double", "single"):
            text += f"gemm.{kind}.flop_s 1e-30\n" + "".join(f"gemm.{kind}.{cost}_s 0\n" for cost in ("c", "ab", "call"))
        text += "".join(f"{name} 0\n" for name in ("copy_s_per_byte", "gamma_s_per_byte", "shm.alpha_s",
                                                   "shm.beta_s_per_byte", "signal_s"))
    elif gemm != "profile":
        try:
            with open(gemm, encoding="utf-8") as file:
                first = file.readline().strip()
                if first != "hsumma profile 1":
                    raise Wrong(f"--gemm is \"{gemm}\"; expected free, profile or a profile file, whose first line is "
                                "\"hsumma profile 1\"")
                text += "".join(line for line in file if re.match(r"\s*(gemm\.|copy_|gamma_|shm\.|signal_)", line))
        except (OSError, UnicodeError) as error:
            raise Wrong(f"--gemm is \"{gemm}\"; expected free, profile or a profile file: {error}") from None
    return text + "end\n"


def fabric_of(platform):
    """Kind and numbers of the fabric, for the library's option topology; None if the library does not know it."""
    if not platform.fabric or platform.fabric[1].split("/")[0].count("x") > 5 or len(platform.hosts) > 2**20:
        return None
    return platform.fabric


def topology_of(platform):
    """The text of the file for the library's option topology; None if the library does not know the fabric."""
    fabric = fabric_of(platform)
    return fabric and " ".join(fabric) + "\n" + "".join(f"{host}\n" for host in platform.hosts)
