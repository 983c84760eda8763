"""The command line: app.py says how the commands are called, the other files what they do."""
