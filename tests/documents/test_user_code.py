"""Code of users and packages is told apart from Posewright's own."""

from __future__ import annotations

import pytest

import posewright as pw
from posewright.documents.user_code import add_package_code, find_user_line
from posewright.errors import InputError


def test_posewright_is_not_user_code_though_a_user_names_a_class_of_it_by_its_module() -> None:
    add_package_code("posewright.control")  # as by `--controller posewright.control:Class`
    with pytest.raises(InputError) as caught:
        pw.robot("no such robot")
    assert find_user_line(caught.value) is None
