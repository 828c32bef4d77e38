"""The CEABOT sumo: two robots in a ring, Yuhkoh points, best of three rounds."""
