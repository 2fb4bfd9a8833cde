"""The service: settings, runtime (the composition root), REST, command line and demo."""
