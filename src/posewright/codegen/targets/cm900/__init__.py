"""The CM-900: its own bare-metal code, how it is built and flashed, and the same board emulated."""
