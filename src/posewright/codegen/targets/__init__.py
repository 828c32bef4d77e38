"""Targets: what turns generated C into something that runs: this computer, an Arduino UNO, a CM-900."""
