"""A robot that is served to others, whatever the wire: who commands it, and a plant whose time a client drives."""
