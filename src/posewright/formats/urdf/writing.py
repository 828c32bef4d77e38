"""Mechanisms written as URDF."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import quoteattr

from posewright.robots import Hinge, Link, LinkShape, Mechanism, ShapeKind
from posewright.robots.mechanism import Quaternion, rotation_matrix

_GIMBAL_LOCK = 1.0 - 1e-12
"""A sine of the pitch above this is a pitch of 90 deg, where roll and yaw are one angle."""


def urdf_text(mechanism: Mechanism) -> str:
    """Return a mechanism as URDF text; reading it again gives the same masses, axes and limits."""
    lines = ['<?xml version="1.0"?>', f"<robot name={quoteattr(mechanism.name)}>"]
    for link in mechanism.links:
        lines += _link_lines(link)
    for link in mechanism.links:
        lines += _joint_lines(link)
    return "\n".join([*lines, "</robot>", ""])


def _link_lines(link: Link) -> Iterator[str]:
    """Yield the lines of a link."""
    yield f"  <link name={quoteattr(link.name)}>"
    if link.mass_kg:
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = link.inertia
        moments = {"ixx": xx, "ixy": xy, "ixz": xz, "iyy": yy, "iyz": yz, "izz": zz}
        attributes = " ".join(f'{key}="{value!r}"' for key, value in moments.items())
        yield "    <inertial>"
        yield f"      {_origin_element(link.centre_m, (1.0, 0.0, 0.0, 0.0))}"
        yield f'      <mass value="{link.mass_kg!r}"/>'
        yield f"      <inertia {attributes}/>"
        yield "    </inertial>"
    for shape in link.shapes:
        placed_shape = (
            f"{_origin_element(shape.position_m, shape.rotation)}<geometry>{_shape_element(shape)}</geometry>"
        )
        yield f"    <visual>{placed_shape}{_material_element(shape)}</visual>"
        if shape.is_solid:
            yield f"    <collision>{placed_shape}</collision>"
    yield "  </link>"


def _material_element(shape: LinkShape) -> str:
    if shape.colour is None:
        return ""
    rgba = _join_numbers((*shape.colour, 1.0))
    return f'<material name="{rgba}"><color rgba="{rgba}"/></material>'


def _shape_element(shape: LinkShape) -> str:
    """Return the element of a box, sphere or cylinder."""
    diameter, _, length = shape.size_m
    if shape.kind is ShapeKind.SPHERE:
        return f'<sphere radius="{diameter / 2.0!r}"/>'
    if shape.kind is ShapeKind.CYLINDER:
        return f'<cylinder radius="{diameter / 2.0!r}" length="{length!r}"/>'
    return f'<box size="{_join_numbers(shape.size_m)}"/>'


def _joint_lines(link: Link) -> Iterator[str]:
    """Yield the lines of the joint between a link and its parent; none for the base."""
    if not link.parent:
        return
    name = f"{link.name}_fixed" if link.hinge is None else link.hinge.name
    kind = "fixed" if link.hinge is None else "revolute"
    yield f'  <joint name={quoteattr(name)} type="{kind}">'
    yield f"    {_origin_element(link.position_m, link.rotation)}"
    yield f"    <parent link={quoteattr(link.parent)}/>"
    yield f"    <child link={quoteattr(link.name)}/>"
    if link.hinge is not None:
        yield f'    <axis xyz="{_join_numbers(link.hinge.axis)}"/>'
        yield f"    {_limit_element(link.hinge)}"
    yield "  </joint>"


def _limit_element(hinge: Hinge) -> str:
    limits = f'lower="{hinge.lower_rad!r}" upper="{hinge.upper_rad!r}"'
    return f'<limit {limits} effort="{hinge.effort_nm!r}" velocity="{hinge.speed_rad_s!r}"/>'


def _origin_element(position: Sequence[float], rotation: Quaternion) -> str:
    """Return an <origin> element with position [m] and roll, pitch, yaw [rad]."""
    matrix = rotation_matrix(rotation)
    sin_pitch = -float(matrix[2, 0])
    pitch = math.asin(max(-1.0, min(1.0, sin_pitch)))
    if abs(sin_pitch) > _GIMBAL_LOCK:
        roll = math.atan2(-matrix[1, 2], matrix[1, 1])
        yaw = 0.0
    else:
        roll = math.atan2(matrix[2, 1], matrix[2, 2])
        yaw = math.atan2(matrix[1, 0], matrix[0, 0])
    return f'<origin xyz="{_join_numbers(position)}" rpy="{_join_numbers((roll, pitch, yaw))}"/>'


def _join_numbers(values: Sequence[float]) -> str:
    return " ".join(repr(float(value)) for value in values)
