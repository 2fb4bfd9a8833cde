"""The relational plan that every front-end builds and every rewrite maps to another."""
