"""The stairs: three steps up and three down, without hands."""
