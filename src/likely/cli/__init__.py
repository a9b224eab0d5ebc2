"""The command line: each command parses, makes one call to the library, and prints. The only room that knows click.

Exit codes: 0 done; 2 bad usage or bad input, with a sentence on standard error; 70 a fault of likely; 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from typing import Any

DONE, BAD_INPUT, FAULT, INTERRUPTED = 0, 2, 70, 130


def main() -> None:
    """Run a command; every failure becomes a sentence and an exit code, never a traceback."""
    from likely.errors import LikelyError

    try:
        import click

        from likely.cli.commands import commands

        code = commands.main(prog_name="likely", standalone_mode=False)
        sys.exit(code if isinstance(code, int) else DONE)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(BAD_INPUT)
    except click.ClickException as error:
        _say(_usage(error))
        sys.exit(BAD_INPUT)
    except LikelyError as error:
        _say(str(error))
        sys.exit(BAD_INPUT)
    except (KeyboardInterrupt, click.Abort):
        _say("Interrupted; no file was written.")
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # The reader went away (likely look … | head): not an error, but Python would complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(DONE)
    except OSError as error:
        _say(f"{error.strerror or error}, while writing or reading a file. Make room or mend the path, and run again.")
        sys.exit(BAD_INPUT)
    except MemoryError:
        _say("There is not enough memory for this table. Leave wide text columns out with --type COLUMN=ignore.")
        sys.exit(BAD_INPUT)
    except Exception as error:
        if os.environ.get("LIKELY_DEBUG"):
            raise
        _say(f"likely itself failed ({type(error).__name__}: {error}). Set LIKELY_DEBUG=1 to see where, and report it.")
        sys.exit(FAULT)


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
    plain = "".join(c if c.isprintable() or c == "\n" else "?" for c in sentence)
    encoding = sys.stderr.encoding or "utf-8"
    sys.stderr.write(f"likely: {plain}\n".encode(encoding, "replace").decode(encoding))
