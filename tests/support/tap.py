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


def run(*tests, args=(), names=()):
    """Calls the tests with args and returns the exit code.  A test that raises an exception has failed; the next one
    follows.  names: only the tests test_NAME are called, or, with a leading "-", all but those."""
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
        except Exception:  # whatever a damaged report leads to
            ok(False, test.__name__, traceback.format_exc())
    return done()


def done():
    """The plan, and the exit code."""
    print(f"1..{_state['count']}")
    return 1 if _state["failed"] else 0
