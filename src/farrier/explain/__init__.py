"""What a fitted model says about itself."""
