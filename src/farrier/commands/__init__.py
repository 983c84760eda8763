"""What the commands of the command line do; cli.py says how they are called."""
