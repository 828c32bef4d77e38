"""A robot that is served to others over any wire: who commands it, and a plant whose time a client drives."""
