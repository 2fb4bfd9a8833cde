"""Values of records to typed Arrow columns, and back."""
