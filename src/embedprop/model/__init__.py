"""What was learned, and every question to it; no training."""
