"""`python -m posewright` is `posewright`."""

from posewright.cli import main

if __name__ == "__main__":
    main()
