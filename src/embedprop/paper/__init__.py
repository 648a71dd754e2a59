"""The paper's tables and figures as experiments that run in small units, and their report."""
