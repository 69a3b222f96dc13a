"""Agents that work on support tickets: each in a sandbox of its own, on the same files, under the same rules."""

import shutil
import tempfile
from pathlib import Path

from paddock_sandbox import CommandError, Paddock, Sandbox

FILES = {
    "docs/faq.md": "# FAQ\n\n## How do I log in?\n\nWith your e-mail address.\n",
    "metadata/customers.csv": "id,name,plan\n1,Ada,pro\n",
    "tickets/17.txt": "I cannot find out how to reset my password.\n",
    "tickets/18.txt": "Which plans are there?\n",
    "secrets/api-key": "sk-not-for-agents\n",
}

# The agent edits /docs, sees the names in /metadata, and reads the rest. /secrets does not exist for it.
RULES = [
    {"pattern": "**", "permission": "read"},
    {"pattern": "/docs/**", "permission": "write"},
    {"pattern": "/metadata/**", "permission": "view"},
    {"pattern": "/secrets/**", "permission": "none"},
]

ANSWERS = {
    "17": "## How do I reset my password?\n\nBy the link on the log-in page.\n",
    "18": "## Which plans are there?\n\nFree and pro.\n",
}


def work_on(ticket: str, sandbox: Sandbox) -> None:
    """What a model would do by tools: commands."""
    print(f"ticket {ticket}: {sandbox.run(f'cat tickets/{ticket}.txt').stdout.strip()}")
    sandbox.run("cat >> docs/faq.md", stdin=f"\n{ANSWERS[ticket]}", check=True)
    for command in ("ls", "ls metadata", "cat metadata/customers.csv", "cat secrets/api-key", f"rm tickets/{ticket}.txt"):
        try:
            print(f"  $ {command}: {sandbox.run(command, check=True).stdout.split()}")
        except CommandError as error:
            print(f"  $ {command}: {error.result.stderr.strip()}")


def main() -> None:
    project = Path(tempfile.mkdtemp(prefix="tickets-"))
    try:
        for name, content in FILES.items():
            (project / name).parent.mkdir(exist_ok=True)
            (project / name).write_text(content)
        with Paddock() as paddock:
            with paddock.sandboxes.create(project, permissions=RULES, labels={"example": "tickets"}) as first:
                # The second agent starts with the same files, and sees nothing of the first one's work.
                second = first.fork()
                with second:
                    work_on("17", first)
                    work_on("18", second)
                    print(first.patch())
                    print("first:", first.pull(project).applied)
                    pulled = second.pull(project)
                    print("second:", pulled.applied, "conflicts:", pulled.conflicts)
                    # A person reads the patch of what could not be pulled; else `with` keeps the sandbox.
                    project.with_suffix(".patch").write_text(second.patch())
                    second.destroy()
            # A sandbox that was forked leaves its codebase to the fork.
            paddock.codebases.delete(first.codebase_id)
    finally:
        shutil.rmtree(project)
        project.with_suffix(".patch").unlink(missing_ok=True)


main()
