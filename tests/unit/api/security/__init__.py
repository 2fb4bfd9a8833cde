"""Keys, tokens, roles and grants of the service, and the hosts that it answers for."""
