"""The vision test: codes on eight boxes around a robot tell it how to turn."""
