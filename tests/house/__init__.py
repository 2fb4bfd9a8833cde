"""Tests of the house: what is built, shipped and imported, and the commands of the documents."""
