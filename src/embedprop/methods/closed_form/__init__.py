"""EP in closed form: Equation (1) with a constraint instead of negatives, solved at once."""
