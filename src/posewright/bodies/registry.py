"""Bodies by name: those of this package, and those that other packages offer by an entry point.

A package offers one in its `pyproject.toml`; what it names takes a robot's card and returns the plant it is
in:

```toml
[project.entry-points."posewright.bodies"]
bench = "my_package.bench:ServoBench"          # ServoBench(robot) -> Plant
```
"""

from __future__ import annotations

from posewright.bodies.body import Plant
from posewright.documents import plugins
from posewright.errors import InputError, UnknownNameError
from posewright.robots import Robot

GROUP = "posewright.bodies"


def body_names() -> tuple[str, ...]:
    """Return the names of all bodies that a robot can be given, in alphabetical order."""
    return tuple(plugins(GROUP))


def make_plant(name: str, robot: Robot) -> Plant:
    """Return a plant with a body of a robot in it: `mock`, `sim`, or another package's.

    Raises:
        UnknownNameError: no package offers one of that name.
        InputError: what is offered cannot be loaded, is offered twice, or makes no plant.
    """
    known = plugins(GROUP)
    if name not in known:
        raise UnknownNameError.among("body", name, known)
    offered = known[name]
    if not callable(offered):
        raise InputError(f"the body {name!r} is {offered!r}", hint="a function that takes a robot")
    plant = offered(robot)
    if not isinstance(plant, Plant):
        raise InputError(
            f"the body {name!r} made {plant!r}, which is no plant", hint="see posewright.bodies.Plant"
        )
    return plant
