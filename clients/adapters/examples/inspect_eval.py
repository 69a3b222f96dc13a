"""An evaluation of Inspect whose samples run in sandboxes. The model is scripted: replace it by the name of a real one."""

import os
import tempfile

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.scorer import Score, accuracy, scorer
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import bash
from inspect_ai.util import SandboxEnvironmentSpec, sandbox
from paddock_adapters.inspect_sandbox import PaddockConfig


@scorer(metrics=[accuracy()])
def is_in_file():
    async def score(state, target):
        return Score(value=int(await sandbox().read_file("answer.txt") == f"{target.text}\n"))

    return score


async def words(text):
    return len(text.split())


model = get_model(
    "mockllm/model",
    custom_outputs=[
        ModelOutput.for_tool_call("mockllm/model", "bash", {"command": "expr 6 '*' 7 > answer.txt; cat key.pem"}),
        ModelOutput.from_content("mockllm/model", "The answer is in answer.txt."),
    ],
)
# The scripted model would load a tokenizer from the network.
model.api.count_text_tokens = words

task = Task(
    dataset=[Sample(input="What is six times seven?", target="42", files={"question.txt": "6 * 7"})],
    solver=[use_tools(bash()), generate()],
    scorer=is_in_file(),
    sandbox=SandboxEnvironmentSpec("paddock", PaddockConfig(rules={"write": ["**"], "none": ["**/*.pem"]})),
)
with tempfile.TemporaryDirectory() as logs:
    os.environ["INSPECT_LOG_DIR"] = logs
    (log,) = eval(task, model=model, display="none")
    print(log.status, log.error or log.results.scores[0].metrics["accuracy"].value)
    for sample in log.samples or []:
        for message in sample.messages:
            print(f"{message.role}: {message.text}")
