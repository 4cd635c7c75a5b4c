"""Runs the functions of a test module whose names start with test_, and counts them; what it needs
and does not find makes it a skip."""
import importlib.util
import os
import sys
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DLLM = os.path.realpath(os.path.join(ROOT, os.environ.get("BUILD", "build"), "dllm"))
SKIPPED = 77


def need(*modules):
    """Ends as a skip unless all of these Python modules are installed."""
    for module in modules:
        if importlib.util.find_spec(module) is None:
            print(f"skipped: the Python module {module} is missing (scripts/install_deps.sh all)")
            sys.exit(SKIPPED)


def environment(**more):
    """A terminal's environment and nothing else; None removes a name."""
    names = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "TERM": "xterm-256color",
             "LANG": "C.UTF-8"}
    names.update(more)
    return {name: value for name, value in names.items() if value is not None}


def equal(found, wanted):
    assert found == wanted, f"found\n{found}\nwanted\n{wanted}"


def main(module):
    passed = failed = 0
    names = [name for name in module if name.startswith("test_")]
    for name in names:
        if len(sys.argv) > 1 and name not in sys.argv[1:]:
            continue
        try:
            module[name]()
            passed += 1
        except Exception:
            failed += 1
            print(f"FAILED {name}")
            traceback.print_exc(file=sys.stdout)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed > 0)
