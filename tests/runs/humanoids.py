"""A small humanoid of our own as a URDF, whose joints turn this way or that."""

from __future__ import annotations

from pathlib import Path

LEG = ("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll")
AXES = {"yaw": "0 0 {}", "roll": "{} 0 0", "pitch": "0 {} 0", "knee": "0 {} 0"}

# of each joint from the one before, for the left leg [m]
OFFSETS = {
    "hip_yaw": (0.005, 0.037, -0.02),
    "hip_roll": (0.0, 0.0, -0.02),
    "hip_pitch": (0.01, 0.012, -0.004),  # its origin is beside the leg's middle, on the same axis
    "knee": (0.002, 0.0, -0.093),
    "ankle_pitch": (-0.002, 0.0, -0.093),
    "ankle_roll": (0.0, -0.012, -0.01),
}


def write_humanoid(
    path: Path,
    *,
    joints: tuple[str, ...] = LEG,
    reversed_joints: tuple[str, ...] = (),
    left_shank_m: float = 0.093,
    knee_axis: str = "0 {} 0",
) -> Path:
    """Write the humanoid and return its path.

    Args:
        path: of the URDF file.
        joints: of each leg from the trunk to the foot.
        reversed_joints: those that turn about the opposite axis, such as `left_knee`.
        left_shank_m: length of the left shank [m]; the right one has 0.093.
        knee_axis: the axis of both knees, with {} for the direction.
    """
    trunk = _link("trunk", 1.2, (0.07, 0.1, 0.12), 0.07)
    parts = ['<?xml version="1.0"?>', '<robot name="own humanoid">', trunk]
    for side, outwards in (("left", 1.0), ("right", -1.0)):
        parent = "trunk"
        for joint in joints:
            name = f"{side}_{joint}"
            x, y, z = OFFSETS[joint]
            if joint == "ankle_pitch" and side == "left":
                z = -left_shank_m
            axis = knee_axis if joint == "knee" else AXES[joint.rpartition("_")[2]]
            direction = -1 if name in reversed_joints else 1
            is_foot = joint == joints[-1]
            link = f"{side}_foot" if is_foot else f"{name}_link"
            size = (0.11, 0.06, 0.008) if is_foot else (0.03, 0.03, 0.03)
            mass_kg = 0.06 if is_foot else 0.05
            parts.append(
                f'<joint name="{name}" type="revolute"><origin xyz="{x} {outwards * y} {z}"/>'
                f'<parent link="{parent}"/><child link="{link}"/><axis xyz="{axis.format(direction)}"/>'
                f'<limit lower="-2.5" upper="2.5" effort="3" velocity="6"/></joint>'
            )
            parts.append(_link(link, mass_kg, size, -0.03 if is_foot else 0.0))
            parent = link
    path.write_text("\n".join([*parts, "</robot>"]), encoding="utf-8")
    return path


def _link(name: str, mass_kg: float, size: tuple[float, float, float], height_m: float) -> str:
    """Return a link that is a box."""
    x, y, z = size
    moments = (
        mass_kg / 12 * (y * y + z * z),
        mass_kg / 12 * (x * x + z * z),
        mass_kg / 12 * (x * x + y * y),
    )
    ixx, iyy, izz = (f"{moment:.3e}" for moment in moments)
    return (
        f'<link name="{name}"><inertial><origin xyz="0 0 {height_m}"/><mass value="{mass_kg}"/>'
        f'<inertia ixx="{ixx}" ixy="0" ixz="0" iyy="{iyy}" iyz="0" izz="{izz}"/></inertial>'
        f'<collision><origin xyz="0 0 {height_m}"/><geometry><box size="{x} {y} {z}"/></geometry></collision>'
        "</link>"
    )
