"""The YAML that native documents are written in."""

from __future__ import annotations

from ruamel.yaml import YAML
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.representer import RoundTripRepresenter

BOM = "\ufeff"


class _Representer(RoundTripRepresenter):
    """Writes nothing as `~`, as short as a person would."""

    def represent_none(self, data: None) -> ScalarNode:
        del data
        return self.represent_scalar("tag:yaml.org,2002:null", "~")


_Representer.add_representer(type(None), _Representer.represent_none)


def yaml_1_2() -> YAML:
    """Return a reader and writer that keeps comments, quotes and order."""
    yaml = YAML(typ="rt")
    yaml.Representer = _Representer
    yaml.preserve_quotes = True
    yaml.width = 4096
    yaml.allow_duplicate_keys = False
    yaml.brace_single_entry_mapping_in_flow_sequence = True  # [{raise: lost}] stays as it is
    yaml.indent(mapping=2, sequence=4, offset=2)
    return yaml
