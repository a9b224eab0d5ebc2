"""The command line: each command parses, makes one call to the library, and prints. The only room that knows click.

May import everything; what is heavy only inside a command that needs it. `listing` names the commands, which stand in
commands/ (that of the course in course/, beside what notebooks need); `options` and `learning` are the options that
several share; `terminal` prints; `asking` says what lacks.
Exit codes: 0 done; 2 bad usage or bad input, with a sentence on standard error; 70 a fault of likely; 130 interrupted.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from contextlib import suppress
from errno import EBADF
from typing import Any

DONE, BAD_INPUT, FAULT, INTERRUPTED = 0, 2, 70, 130


def main() -> None:
    """Run the command of this process, then end the process."""
    # Most objects of a command live as long as it does: looking among them for what may go takes a twentieth of it. A
    # look makes about a hundred thousand.
    gc.set_threshold(200_000, 20, 50)
    # Batches are shared among threads of our own. Those of OpenBLAS, inside numpy, would wait for work by spinning.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _open_streams()
    try:
        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # so early that nothing had been imported, or a second time
        code = INTERRUPTED
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):  # what cannot be written has been told already
            stream.flush()
    atexit._run_exitfuncs()  # temporary files; there is no public way to run these before os._exit
    # A parser's thread that still wants Python while Python ends would abort the process, whatever its exit code.
    os._exit(code)


def _open_streams() -> None:
    """Put something in the place of streams that are closed: a file of ours would get their numbers, and be written to
    by whoever prints. What is read is empty, what is said is lost, and what is printed fails, with a sentence.
    """
    for name, flags in (("stdin", os.O_RDONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, os.fdopen(os.open(os.devnull, flags), mode, encoding="utf-8"))


def run(arguments: list[str]) -> int:
    """Run a command; every failure becomes a sentence and an exit code, never a traceback."""
    import click

    from likely.cli.listing import COMPLETE, commands
    from likely.errors import LikelyError, shown, writing_options

    if instruction := os.environ.get(COMPLETE):
        from click.shell_completion import shell_complete

        return shell_complete(commands, {}, "likely", COMPLETE, instruction)

    try:
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # cleans up as Ctrl-C does
        if not arguments:  # releases of click do not agree on where help goes then, and whether that is an error
            with commands.make_context("likely", [], resilient_parsing=True) as context:
                click.echo(context.get_help(), err=True)
            return BAD_INPUT
        # Not commands.main(): click would make exit code 1 of a reader that went away.
        with writing_options(), commands.make_context("likely", [*arguments], obj=tuple(arguments)) as context:
            commands.invoke(context)
        sys.stdout.flush()
        return DONE
    except click.exceptions.Exit as asked:
        return asked.exit_code
    except click.ClickException as error:
        _say(_usage(error))
        return BAD_INPUT
    except LikelyError as error:
        with writing_options():
            _say(str(error))
        return BAD_INPUT
    except (KeyboardInterrupt, click.Abort):
        _say("Interrupted; no file was written.")
        return INTERRUPTED
    except BrokenPipeError:
        return DONE  # the reader went away (likely look … | head): not an error
    except OSError as error:
        if error.errno == EBADF and not error.filename:
            _say("Standard output is closed, so nothing can be printed. Leave it open, or name a file with -o.")
            return BAD_INPUT
        where = f" {shown(error.filename, 200)}" if error.filename else " standard output or a file"
        _say(f"Cannot read or write{where}: {error.strerror or error}. Free space or correct the path.")
        return BAD_INPUT
    except MemoryError:
        _say("Not enough memory for this table. Use fewer rows, or leave columns out with --type COLUMN=ignore.")
        return BAD_INPUT
    except Exception as error:
        if os.environ.get("LIKELY_DEBUG"):
            raise
        _say(f"likely itself failed ({type(error).__name__}: {error}). Set LIKELY_DEBUG=1 to see where, and report it.")
        return FAULT


def _usage(error: Any) -> str:
    """What click found wrong, in two sentences: what, and where help is."""
    message, context = error.format_message().rstrip("."), getattr(error, "ctx", None)
    place = context.command_path if context is not None else "likely"
    if error.__class__.__name__ == "NoSuchOption":
        message += "; a name that starts with a dash goes after --"
    ending = "" if message.endswith("?") else "."
    return f"{message}{ending} See {place} --help."


def _say(sentence: str) -> None:
    """A sentence on standard error, harmless to a terminal whatever data it quotes."""
    from likely.errors import masked

    plain = masked("".join(c if c.isprintable() or c == "\n" else "?" for c in sentence))
    encoding = sys.stderr.encoding or "utf-8"
    sys.stderr.write(f"likely: {plain}\n".encode(encoding, "replace").decode(encoding))
