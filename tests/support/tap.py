"""The Test Anything Protocol for the Python tests of this directory."""
import sys
import traceback

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


class Ended(Exception):
    """A test that cannot go on: what it needs has failed."""


def must(good, name, *remarks):
    """One test which those after it in the same function need: if it fails, they are left out."""
    if not ok(good, name, *remarks):
        raise Ended


def run(*tests, args=()):
    """Calls the tests with args.  One that raises an exception has failed, and the next begins.  The exit code."""
    for test in tests:
        try:
            test(*args)
        except Ended:
            pass
        except Exception:  # whatever a damaged report leads to
            ok(False, test.__name__, traceback.format_exc())
    return done()


def done():
    """The plan, and the exit code."""
    print(f"1..{_state['count']}")
    return 1 if _state["failed"] else 0
