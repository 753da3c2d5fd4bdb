"""``python -m flexmbs``: the command line."""

from flexmbs.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
