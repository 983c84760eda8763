"""The edge between a user's data and the model: tables and their columns, text, files and progress."""
