"""Charts and behaviours as C for a board, and the proof that they do the same there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from posewright.lazy import lazy

if TYPE_CHECKING:
    from posewright.codegen.generating import MANIFEST as MANIFEST
    from posewright.codegen.generating import Generated as Generated
    from posewright.codegen.generating import accepted_faults as accepted_faults
    from posewright.codegen.generating import build as build
    from posewright.codegen.generating import explain as explain
    from posewright.codegen.generating import find_changed_files as find_changed_files
    from posewright.codegen.generating import flash_command as flash_command
    from posewright.codegen.generating import generate as generate
    from posewright.codegen.generating import read_generated_unit as read_generated_unit
    from posewright.codegen.generating import read_unit_spec as read_unit_spec
    from posewright.codegen.proof.proving import source_coverage as source_coverage
    from posewright.codegen.proof.proving import verify as verify
    from posewright.codegen.proof.proving import verify_folder as verify_folder
    from posewright.codegen.targets import target_named as target_named
    from posewright.codegen.targets import target_names as target_names
    from posewright.codegen.toolchains import find_program as find_program
else:
    __getattr__, __dir__, __all__ = lazy(__name__)
