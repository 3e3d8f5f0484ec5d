"""The Test Anything Protocol for the Python tests of this directory."""
import sys

_state = {"count": 0, "failed": 0}


def ok(good, name, *remarks):
    """One test; remarks are printed if it fails."""
    _state["count"] += 1
    _state["failed"] += not good
    print(f"{'ok' if good else 'not ok'} {_state['count']} - {name.replace('#', '')}")
    if not good:
        for line in "\n".join(map(str, remarks)).splitlines():
            print("#", line)
    sys.stdout.flush()
    return good


def skip(name, reason):
    _state["count"] += 1
    print(f"ok {_state['count']} - {name} # SKIP {reason}")


def done():
    """The plan, and the exit code."""
    print(f"1..{_state['count']}")
    return 1 if _state["failed"] else 0
