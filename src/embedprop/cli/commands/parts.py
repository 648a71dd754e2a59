"""`embedprop parts`: every part of the framework that can be chosen by name."""

from __future__ import annotations

import textwrap

import typer


def parts() -> None:
    """List the parts of the framework: f, g, d, losses, negatives, neighborhoods, r."""
    from embedprop.instance.catalog import catalog

    for kind, known in catalog().items():
        typer.echo(kind)
        for name, info in known.items():
            given = ", ".join(f"{key}={value!r}" for key, value in info.parameters.items())
            title = f"{name}({given})" if given else name
            text = textwrap.fill(
                info.description, 96, initial_indent="      ", subsequent_indent="      "
            )
            typer.echo(f"  {title}\n{text}")
