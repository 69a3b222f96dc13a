"""An agent loop in a sandbox: the model asks for commands, until it has an answer. Put a real model in place of SCRIPT."""

import sys
from pathlib import Path

from paddock_sandbox import CommandTimeoutError, Sandbox

SCRIPT = [
    {"run": "python3 test.py; cat src/total.py"},
    {"run": "sed -i 's/-/+/' src/total.py && python3 test.py"},
    {"run": 'echo "print(1)" > test.py; cat private/token'},
    {"answer": "total() subtracted. It adds now, and the test passes."},
]
STEPS = 20


def model(conversation):
    return SCRIPT.pop(0)


def run(sandbox, command):
    try:
        result = sandbox.run(command, timeout="1m", max_output=20_000, merge=True)
        return f"{result.output}[exit code {result.exit_code}]"
    except CommandTimeoutError as error:
        return f"{error.output}\n[killed after a minute]"


project = sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent / "project"

# The agent may change src, sees nothing of private, and reads the rest.
rules = {"read": ["**"], "write": ["src"], "none": ["private"]}
with Sandbox.create(project, rules=rules, labels={"example": "agent-loop"}) as sandbox:
    conversation = [{"role": "user", "text": "The test fails. Repair it."}]
    for _ in range(STEPS):
        reply = model(conversation)
        if "answer" in reply:
            print(reply["answer"])
            break
        result = run(sandbox, reply["run"])
        conversation += [{"role": "model", "text": reply["run"]}, {"role": "tool", "text": result}]
        print(f"$ {reply['run']}\n{result}")
    # What it changed: nothing is in the project before a `pull` (or in the codebase before a `commit`).
    print(sandbox.patch())
