"""The REST resources, one router each."""
