"""The console, without a browser."""
