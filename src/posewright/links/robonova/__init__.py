"""A RoboNova-1 on its serial line: a program of ours on the board hears poses and answers."""
