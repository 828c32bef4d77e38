"""Draw the pictures of docs/kinematics.md: `python docs/pictures/make_kinematics.py`.

Every line is drawn from the angles and formulas of `posewright.kinematics`, none by hand.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from posewright.kinematics import Knee, ThreeJointLeg, head_of, legs_of
from posewright.robots import robot

FOLDER = Path(__file__).parent / "kinematics"
DARK, BLUE, RED, GREEN, GREY = "#22262e", "#2f6fb0", "#c8453b", "#3b8a57", "#9aa0aa"
STYLE: dict[Any, Any] = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False}


def save(figure: Any, name: str) -> None:
    """Write a picture into the folder."""
    figure.savefig(FOLDER / f"{name}.png", dpi=130, facecolor="white", bbox_inches="tight")


def panels(across: int, size_in: tuple[float, float], **how: Any) -> tuple[Figure, Any]:
    """Return a figure with axes side by side."""
    figure = Figure(figsize=size_in)
    return figure, figure.subplots(1, across, **how)


def bare(axes: Any, title: str) -> None:
    """Leave nothing of the axes but a title."""
    axes.set_aspect("equal")
    axes.axis("off")
    axes.set_title(title, fontsize=11, color=DARK, pad=14)


def arc(axes: Any, at: Any, radius: float, begin: float, end: float, text: str, colour: str) -> None:  # noqa: PLR0917
    """Draw an angle counted from straight down, towards +x; its name beside the middle."""
    turn = np.linspace(begin, end, 60)
    axes.plot(at[0] + radius * np.sin(turn), at[1] - radius * np.cos(turn), color=colour, lw=1.6)
    middle = 0.5 * (begin + end)
    axes.text(
        at[0] + 1.28 * radius * math.sin(middle),
        at[1] - 1.28 * radius * math.cos(middle),
        text,
        color=colour,
        ha="center",
        va="center",
    )


def limb(axes: Any, *points: Any, colour: str = DARK, alpha: float = 1.0) -> None:
    """Draw parts from joint to joint, the last point a foot."""
    x, z = np.array(points).T
    axes.plot(x, z, color=colour, lw=4, solid_capstyle="round", alpha=alpha)
    axes.plot(x[:-1], z[:-1], "o", color="white", mec=colour, mew=2, ms=9, alpha=alpha)
    axes.plot(x[-1], z[-1], "o", color=colour, ms=8, alpha=alpha)


def measure(axes: Any, begin: Any, end: Any, text: str, shift: Any, colour: str = GREY) -> None:  # noqa: PLR0917
    """Draw a length with arrows; its name beside the middle."""
    axes.annotate("", end, begin, arrowprops={"arrowstyle": "<->", "color": colour, "lw": 1.2})
    middle = (np.array(begin) + np.array(end)) / 2 + shift
    axes.text(*middle, text, color=colour, ha="center", va="center")


def on(turn: float, length: float, start: Any = (0.0, 0.0)) -> Any:
    """Return a point so far from `start`, at an angle from straight down towards +x."""
    return np.array(start) + length * np.array([math.sin(turn), -math.cos(turn)])


def leg() -> None:
    """Draw the leg of the document from the side and from behind."""
    figure, (side, rear) = panels(2, (10, 5.2), width_ratios=(1.15, 1))
    q1, q3, upper, lower = 0.35, 0.95, 1.0, 1.0
    knee = on(q1, upper)
    foot = on(q1 + q3, lower, knee)
    a, h = lower * math.sin(q3), upper + lower * math.cos(q3)
    bare(side, "from the side, elevator at 0: b = h")
    side.plot([0, 0], [0, -2.05], ls=":", color=GREY)
    corner = on(q1, h)
    side.plot(*np.array([knee, on(q1, h)]).T, ls="--", color=GREY, lw=1)
    side.plot(*np.array([(0, 0), foot]).T, ls="--", color=GREEN, lw=1.4)
    limb(side, (0, 0), knee, foot)
    arc(side, (0, 0), 0.62, 0.0, q1, "$q_1$", BLUE)
    arc(side, (0, 0), 0.92, q1, q1 + math.atan2(a, h), r"$\beta$", GREEN)
    arc(side, knee, 0.34, q1, q1 + q3, "$q_3$", RED)
    across = np.array([math.cos(q1), math.sin(q1)])
    measure(side, corner, foot, "$a = L_2\\,\\sin q_3$", on(q1, 0.14), BLUE)
    measure(side, -0.16 * across, corner - 0.16 * across, "b", on(q1, 0.35) - 0.07 * across, BLUE)
    side.text(*(on(q1, 0.5) + 0.05 * across), "$L_1$")
    side.text(*(0.5 * (knee + foot) + (0.07, 0.10)), "$L_2$")
    side.text(*(0.5 * foot + (0.06, 0.06)), "d", color=GREEN)
    side.annotate("", (0.75, 0.12), (0.1, 0.12), arrowprops={"arrowstyle": "->", "color": DARK})
    side.text(0.8, 0.12, "x", va="center")
    q2, w = 0.5, 0.16
    bare(rear, "from behind, the foot beside the leg's plane")
    rear.plot([0, 0], [0, -2.05], ls=":", color=GREY)
    hip = on(q2, 1.75)
    foot2 = hip + w * np.array([math.cos(q2), math.sin(q2)])
    limb(rear, (0, 0), hip)
    rear.plot(*np.array([hip, foot2]).T, color=RED, lw=2.5)
    rear.plot(*foot2, "o", color=RED, ms=8)
    rear.plot(*np.array([(0, 0), foot2]).T, ls="--", color=GREEN, lw=1.4)
    arc(rear, (0, 0), 0.6, 0.0, q2, "$q_2$", BLUE)
    arc(rear, (0, 0), 1.1, q2, q2 + math.atan2(w, 1.75), r"$\psi$", GREEN)
    rear.text(*(on(q2, 1.35) - np.array((0.16, 0.02))), "h")
    rear.text(*(foot2 + np.array((0.1, 0.0))), "w", color=RED, va="center")
    rear.text(*(0.4 * foot2 + (0.06, 0.04)), r"$\rho$", color=GREEN)
    measure(rear, (0, -1.95), (foot2[0], -1.95), "y", (0, -0.09), BLUE)
    measure(rear, (-0.18, 0), (-0.18, foot2[1]), "b", (-0.09, 0), BLUE)
    rear.annotate("", (0.75, 0.12), (0.1, 0.12), arrowprops={"arrowstyle": "->", "color": DARK})
    rear.text(0.8, 0.12, "y, outwards", va="center")
    for axes in (side, rear):
        axes.set(xlim=(-0.45, 1.6), ylim=(-2.15, 0.25))
    save(figure, "leg")


def joints_of(part: ThreeJointLeg, angles: Any) -> list[Any]:
    """Return shoulder, knee and foot in the x-z plane [mm]."""
    q1, q2, q3 = angles
    knee = ThreeJointLeg(part.upper_m, 1e-12, upper_angle_rad=part.upper_angle_rad)
    places = [np.zeros(3), knee.forward((q1, q2, 0.0)), part.forward((q1, q2, q3))]
    return [1e3 * place[[0, 2]] for place in places]


def ways() -> None:
    """Draw the two knees of one point, and the legs of the ERS-7."""
    figure, (knees, dog) = panels(2, (10, 4.8))
    part = ThreeJointLeg(0.07, 0.07)
    point = np.array([0.03, 0.0, -0.105])
    bare(knees, "one point, two knees")
    for knee, colour, text in ((Knee.POSITIVE, BLUE, "$q_3 > 0$"), (Knee.NEGATIVE, RED, "$q_3 < 0$")):
        places = joints_of(part, part.inverse(point, knee=knee))
        limb(knees, *places, colour=colour, alpha=0.9)
        knees.text(*(places[1] + (22 if knee is Knee.NEGATIVE else -24, 4)), text, color=colour, ha="center")
    turn = np.linspace(0, 2 * math.pi, 100)
    for centre in ((0, 0), 1e3 * point[[0, 2]]):
        knees.plot(centre[0] + 70 * np.sin(turn), centre[1] + 70 * np.cos(turn), ls=":", color=GREY, lw=1)
    bare(dog, "ERS-7 from its right: joints at 0; pale, as it stands")
    ers7 = robot("sony_ers7")
    stand = ers7.pose("stand")
    for mounted in legs_of(ers7)[:2]:
        mirror, shoulder = mounted.mirror[[0, 2]], 1e3 * mounted.shoulder_m[[0, 2]]
        for angles, alpha in (((0.0, 0.0, 0.0), 1.0), (stand[list(mounted.indices)], 0.3)):
            places = [shoulder + mirror * place for place in joints_of(mounted.leg, angles)]
            limb(dog, *places, alpha=alpha)
            dog.add_patch(Circle(places[2], 11.72, fill=False, color=GREY, alpha=alpha))
        dog.plot([shoulder[0]] * 2, [0, -160], ls=":", color=GREY)
        dog.text(shoulder[0], 9, mounted.name.split("_")[1], ha="center")
    dog.set_ylim(-165, 20)
    save(figure, "ways")


def reach() -> None:
    """Draw what three legs reach, and where points outside are taken."""
    figure, three = panels(3, (12, 4.4), sharey=True)
    front = legs_of(robot("sony_ers7"))[0].leg
    legs = {
        "two parts of 70 mm": ThreeJointLeg(0.07, 0.07),
        "90 and 50 mm": ThreeJointLeg(0.09, 0.05),
        "ERS-7, front, bent forward": front,
    }
    aside, off = np.meshgrid(np.linspace(-160, 160, 641), np.linspace(0, 160, 321))
    points = 1e-3 * np.column_stack([off.ravel() * 0.0, aside.ravel(), -off.ravel()])
    for axes, (title, part) in zip(three, legs.items(), strict=True):
        found = part.inverse(points, nearest=True)
        miss = 1e3 * np.linalg.norm(part.forward(found) - points, axis=1).reshape(aside.shape)
        axes.contourf(aside, off, miss, levels=[-1, 1e-6, 10, 20, 40, 80, 160], cmap="Blues_r", alpha=0.75)
        axes.contour(aside, off, miss, levels=[1e-6], colors=DARK, linewidths=1.2)
        axes.set_title(title, fontsize=11)
        axes.set_aspect("equal")
        axes.invert_yaxis()
        axes.set_xlabel("aside, along the rotator's axis [mm]")
        for y, z in ((150, 40), (60, 8), (-90, 145), (-20, 6)):
            foot = 1e3 * part.forward(part.inverse((0, 1e-3 * y, -1e-3 * z), nearest=True))
            place = foot[1], math.hypot(foot[0], foot[2])
            if math.hypot(y - place[0], z - place[1]) > 1.0:
                axes.annotate("", place, (y, z), arrowprops={"arrowstyle": "->", "color": RED})
                axes.plot(y, z, "o", color=RED, ms=4)
    three[0].set_ylabel("off that axis [mm]")
    save(figure, "reach")


def straight_knee() -> None:
    """Draw the error of the knee against the bend."""
    figure, axes = panels(1, (8, 4.2))
    eps, part = 2.0**-52, ThreeJointLeg(0.07, 0.07)
    rng = np.random.default_rng(1)
    bend = 10.0 ** rng.uniform(-10.0, 0.3, 40_000)
    angles = np.column_stack([rng.uniform(-1.5, 1.5, bend.size), rng.uniform(-1.0, 1.0, bend.size), bend])
    error = np.maximum(np.abs(part.inverse(part.forward(angles)) - angles)[:, 2], 1e-17)
    axes.loglog(
        bend, error, ".", ms=1.5, color=BLUE, alpha=0.5, label="error of the knee, 40 000 random legs"
    )
    line = np.geomspace(1e-10, 2.0, 300)
    axes.loglog(line, 16 * eps / np.abs(np.sin(line)), color=RED, label=r"$16\,\epsilon\,/\,\sin$ bend")
    axes.axhline(2e-7, color=GREEN, label="2e-7 rad, straight")
    axes.axhline(1e-12, color=GREY, ls=":")
    axes.set_ylim(1e-17, 1e-5)
    axes.set_xlabel("bend of the leg [rad]")
    axes.set_ylabel("error [rad]")
    axes.legend(frameon=False, loc="upper right")
    save(figure, "straight_knee")


def head() -> None:
    """Draw how the head looks at a point."""
    figure, axes = panels(1, (8, 4.6))
    bare(axes, "the head's plane after neck tilt and pan")
    part = head_of(robot("sony_ers7"))
    point = np.array([0.28, 0.0, 0.045])
    neck, _, tilt = angles = part.look_at(point)
    base = np.array(part.shape.neck)
    up = math.pi + neck  # from straight down, towards +x
    crossing = on(up, part.shape.head[1], base)
    place, way = (row[[0, 2]] for row in part.forward(angles))
    foot = crossing + ((place - crossing) @ np.array([way[1], -way[0]])) * np.array([way[1], -way[0]])
    flat = on(up - 0.5 * math.pi, 0.2, crossing)
    limb(axes, base, crossing)
    axes.plot(*np.array([crossing, flat]).T, ls=":", color=GREY)
    axes.plot(*np.array([foot, point[[0, 2]]]).T, color=BLUE, lw=1.4)
    axes.plot(*np.array([crossing, point[[0, 2]]]).T, ls="--", color=GREEN, lw=1.4)
    axes.plot(*np.array([crossing, foot]).T, color=RED, lw=2)
    axes.plot(*place, "s", color=DARK, ms=9)
    axes.plot(*point[[0, 2]], "*", color=RED, ms=16)
    axes.text(*(place - np.array((0.0, 0.014))), "camera", ha="center")
    axes.text(*(0.5 * (crossing + foot) + (-0.012, 0.0)), "$c_z$", color=RED, ha="center", va="center")
    axes.text(*(0.45 * crossing + 0.55 * point[[0, 2]] + (0.01, 0.008)), "D", color=GREEN)
    axes.text(*(0.4 * foot + 0.6 * point[[0, 2]] + (-0.01, -0.014)), "$c_x + s$", color=BLUE, ha="center")
    axes.text(*(base + np.array((0.012, -0.004))), f"neck tilt {math.degrees(neck):.0f}°", va="center")
    axes.text(
        *flat, f"  level with the neck;\n  head tilt {math.degrees(tilt):.0f}°", color=GREY, va="center"
    )
    save(figure, "head")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    with mpl.rc_context(STYLE):
        for draw in (leg, ways, reach, straight_knee, head):
            draw()
