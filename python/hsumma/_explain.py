"""A plan as text and as a picture."""
import textwrap
from html import escape

_UNITS = (1, "s"), (1e-3, "ms"), (1e-6, "us"), (0, "ns")


def seconds(value):
    scale, unit = next((scale, unit) for scale, unit in _UNITS if value >= scale)
    return f"{value / (scale or 1e-9):.4g} {unit}"


def size(count):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            return f"{count:.4g} {unit}"
        count /= 1024


def _title(plan):
    A, B, C = plan._operands
    op = {"N": "{}", "T": "{}^T", "C": "{}^H"}
    product = " ".join(op[operand._trans].format(name) for name, operand in (("A", A), ("B", B)))
    return f"C = {product}: m = {C.shape[0]}, n = {C.shape[1]}, k = {A.shape[1]}, {C.dtype}"


def _other(rival, info):
    """The options of a rival's line that are not in the chosen plan's line."""
    own = set(info.line.split())
    return " ".join(word for word in rival.line.split() if word not in own) or rival.line


def as_text(plan):
    info = plan.info
    C = plan._operands[2]
    rows = [
        ("grid", f"{info.nprow} x {info.npcol} of {plan.context.size} processes, "
                 f"C in blocks of {C._stored.block[0]} x {C._stored.block[1]}"),
        ("plan", info.line),
        ("why", f"{info.why}; {info.tuned}"),
        ("moves", ", ".join(f"{name} {moved.how}" for name, moved in zip("ABC", info.operand))),
        ("predicted", f"{seconds(info.predicted_seconds)}: communication {seconds(info.predicted_comm_seconds)}, "
                      f"GEMM {seconds(info.predicted_gemm_seconds)}, copies {seconds(info.predicted_copy_seconds)}"),
        ("sent", f"{info.predicted_messages_sent} messages, {size(info.predicted_bytes_sent)} by this process"),
        ("workspace", f"{size(info.workspace_bytes_max)} (maximum over processes); "
                      f"limit {size(info.workspace_limit_bytes)}"),
    ]
    rows += [("not chosen" * (not i), f"{_other(rival, info)}: {seconds(rival.seconds)}"
              + f", measured {seconds(rival.measured)}" * bool(rival.measured)) for i, rival in enumerate(info.rival)]
    if info.seconds:
        rows.append(("last run", f"{seconds(info.seconds)}: communication {seconds(info.comm_seconds)}, "
                                 f"GEMM {seconds(info.gemm_seconds)}, copies {seconds(info.copy_seconds)}; "
                                 f"{info.messages_sent} messages, {size(info.bytes_sent)} sent by this process"))
    return "\n".join([_title(plan), *(f"{name:11} {value}" for name, value in rows)])


_COLOURS = {"communication": "#d95f02", "GEMM": "#1b9e77", "copies": "#7570b3", "predicted": "#999999"}
_WIDTH, _LINE = 760, 22


def as_svg(plan):
    """An SVG of the plan: the grid with the groups of its outermost level, and bars of times: predicted, of the last
    execution, and of the rivals."""
    info = plan.info
    parts = ("communication", "comm"), ("GEMM", "gemm"), ("copies", "copy")
    bars = [("predicted", [(name, getattr(info, f"predicted_{key}_seconds")) for name, key in parts],
             info.predicted_seconds)]
    if info.seconds:
        bars.append(("last run", [(name, getattr(info, f"{key}_seconds")) for name, key in parts], info.seconds))
    bars += [(f"not chosen, {_other(rival, info)}"[:90], [("predicted", rival.seconds)], rival.seconds) for rival in info.rival]
    longest = max([total for *_, total in bars] + [sum(value for _, value in pieces) for _, pieces, _ in bars]) or 1
    lines = textwrap.wrap(info.line, 105)
    top, side = (2 + len(lines)) * _LINE, 140
    text = [_text(10, 18, _title(plan), weight="bold")]
    text += [_text(10, 18 + _LINE * i, words) for i, words in enumerate(lines, 1)]
    text += _grid(info, 10, top, side)
    x, y = side + 40, top
    for name, pieces, total in bars:
        text.append(_text(x, y + 10, f"{name}: {seconds(total)}"))
        at = x
        for part, value in pieces:
            width = value / longest * (_WIDTH - x - 20)
            text.append(f'<rect x="{at:.1f}" y="{y + 14}" width="{width:.1f}" height="8" fill="{_COLOURS[part]}"/>')
            at += width
        y += _LINE + 8
    for part in ("communication", "GEMM", "copies"):
        text.append(f'<rect x="{x}" y="{y + 4}" width="10" height="10" fill="{_COLOURS[part]}"/>')
        text.append(_text(x + 14, y + 13, part))
        x += 110
    height = max(y + _LINE, top + side + 2 * _LINE)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
            f'viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif" font-size="12">' + "".join(text) + "</svg>")


def _text(x, y, words, weight="normal"):
    return f'<text x="{x}" y="{y}" font-weight="{weight}">{escape(words)}</text>'


def _grid(info, x, y, side):
    """SVG of the grid if it has at most 32 rows and columns; heavy lines separate the groups of the outermost level."""
    if max(info.nprow, info.npcol) > 32:
        yield _text(x, y + 12, f"{info.nprow} x {info.npcol} processes")
        return
    step = side / max(info.nprow, info.npcol)
    width, height = step * info.npcol, step * info.nprow
    group_rows, group_cols = (info.level[0].rows, info.level[0].cols) if info.nlevels > 1 else (1, 1)
    for axis, (count, groups) in enumerate(((info.nprow, group_rows), (info.npcol, group_cols))):
        for i in range(count + 1):
            heavy = 2.5 if i % max(1, count // max(1, groups)) == 0 and groups > 1 or i in (0, count) else 0.5
            at = (y if axis == 0 else x) + i * step
            ends = (x, at, x + width, at) if axis == 0 else (at, y, at, y + height)
            yield (f'<line x1="{ends[0]:.1f}" y1="{ends[1]:.1f}" x2="{ends[2]:.1f}" y2="{ends[3]:.1f}" stroke="#333" '
                   f'stroke-width="{heavy}"/>')
    yield _text(x, y + side + 16, f"{info.nprow} x {info.npcol} processes, {info.stationary} stays")
