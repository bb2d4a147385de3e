"""`agekeep` and `python -m agekeep`: the program in the place of this process."""

import os
import sys

from agekeep import bundled


def main() -> None:
    program = bundled()
    if program is None:
        sys.exit("agekeep: this package has no program in it. Install a wheel for your platform.")
    try:
        os.execv(program, ["agekeep", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"agekeep: cannot run {program}: {error.strerror}. Install the package again.")


if __name__ == "__main__":
    main()
