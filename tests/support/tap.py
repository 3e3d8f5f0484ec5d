"""The Test Anything Protocol for the Python tests of this directory."""
import sys
import traceback

_state = {"count": 0, "failed": 0}


def ok(good, name, *remarks):
    """Reports one test, and prints the remarks if it fails; returns `good`."""
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
    """Ends a test whose preconditions have failed."""


def must(good, name, *remarks):
    """Reports a test that the rest of its function needs: if it fails, the rest is skipped."""
    if not ok(good, name, *remarks):
        raise Ended


def run(*tests, args=(), names=()):
    """Calls the tests with args and returns the exit status. A test that raises an exception has failed.

    names: call only the tests test_NAME, or, with a leading "-", all except those."""
    listed = {"test_" + name.lstrip("-") for name in names}
    without = any(name.startswith("-") for name in names)
    unknown = listed - {test.__name__ for test in tests}
    if unknown:
        ok(False, "the tests named exist", *sorted(unknown))
    for test in tests:
        if names and (test.__name__ in listed) == without:
            continue
        try:
            test(*args)
        except Ended:
            pass
        except Exception:  # for example from a damaged report
            ok(False, test.__name__, traceback.format_exc())
    return done()


def done():
    """Prints the plan; returns the exit status."""
    print(f"1..{_state['count']}")
    return 1 if _state["failed"] else 0
