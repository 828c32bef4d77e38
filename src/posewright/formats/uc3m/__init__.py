"""The joint tables of the source document (UC3M 2013)."""
