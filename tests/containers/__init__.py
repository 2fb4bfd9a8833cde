"""The image and the compose file of `docker/`, built and run: `make containers`."""
