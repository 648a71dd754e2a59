"""`embedprop parts`: every part of the framework that can be chosen by name."""

import textwrap

import typer


def parts() -> None:
    """List the parts of the framework: f, g, d, losses, negatives, neighborhoods, r, engines."""
    from embedprop.errors import InvalidParameterError
    from embedprop.instance.catalog import REGISTRIES, describe_part
    from embedprop.instance.epb import EPB_PARTS

    for kind, registry in REGISTRIES.items():
        typer.echo(kind)
        for name in registry:
            try:
                info = describe_part(kind, name)
            except InvalidParameterError as error:  # its package is not there, or is broken
                is_own = name in EPB_PARTS.get(kind, ())
                text = "EP-B's own: works without torch, which describes it." if is_own else error
                typer.echo(f"  {name}\n{_wrapped(str(text))}")
                continue
            given = ", ".join(f"{key}={value!r}" for key, value in info.parameters.items())
            typer.echo(f"  {name}({given})" if given else f"  {name}")
            typer.echo(_wrapped(info.description))


def _wrapped(text: str) -> str:
    return textwrap.fill(text, 96, initial_indent="      ", subsequent_indent="      ")
