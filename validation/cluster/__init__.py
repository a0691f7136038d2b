"""A large sweep on workers, with its results on an object store, killed in the middle and taken up again."""
