"""The command line: each command parses, makes one call to the library, and prints. The only room that knows click.

Exit codes: 0 done; 2 bad usage or bad input, with a sentence on standard error; 70 a fault of likely; 130 interrupted.
"""

from __future__ import annotations

import os
import sys

DONE, BAD_INPUT, FAULT, INTERRUPTED = 0, 2, 70, 130


def main() -> None:
    """Run a command; every failure becomes a sentence and an exit code, never a traceback."""
    from likely.errors import LikelyError

    try:
        import click

        from likely.cli.commands import commands

        code = commands.main(standalone_mode=False)
        sys.exit(code if isinstance(code, int) else DONE)
    except click.ClickException as error:
        error.show()
        sys.exit(BAD_INPUT)
    except LikelyError as error:
        _say(str(error))
        sys.exit(BAD_INPUT)
    except (KeyboardInterrupt, click.Abort):
        _say("Interrupted; nothing was written.")
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # The reader went away (likely look … | head): not an error, but Python would complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(DONE)
    except MemoryError:
        _say("There is not enough memory for this table. Leave wide text columns out with --type COLUMN=ignore.")
        sys.exit(BAD_INPUT)
    except Exception as error:
        if os.environ.get("LIKELY_DEBUG"):
            raise
        _say(f"likely itself failed ({type(error).__name__}: {error}). Set LIKELY_DEBUG=1 to see where, and report it.")
        sys.exit(FAULT)


def _say(sentence: str) -> None:
    """A sentence on standard error, harmless to a terminal whatever data it quotes."""
    plain = "".join(c if c.isprintable() or c == "\n" else "?" for c in sentence)
    sys.stderr.write(f"likely: {plain}\n")
