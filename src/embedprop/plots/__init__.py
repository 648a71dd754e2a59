"""The one place that draws: layouts, colors, figures."""
