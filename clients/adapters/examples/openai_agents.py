"""An agent of the OpenAI Agents SDK in a sandbox. The model is scripted: replace it by the name of a real one."""

import asyncio

from agents import RunConfig, Runner
from agents.run_config import SandboxRunConfig
from agents.sandbox import Manifest, SandboxAgent
from agents.sandbox.entries import File
from agents.testing import ScriptedModel, assistant_message, function_call
from openai.types.responses import ResponseCustomToolCall
from paddock_adapters.openai_agents import PaddockSandboxClient, PaddockSandboxClientOptions

PATCH = "*** Begin Patch\n*** Add File: answer.txt\n+42\n*** End Patch\n"

model = ScriptedModel(
    [
        [function_call("exec_command", {"cmd": "cat notes.txt .env"}, call_id="1")],
        [ResponseCustomToolCall(type="custom_tool_call", call_id="2", name="apply_patch", input=PATCH)],
        [assistant_message("The answer is in answer.txt.")],
    ]
)
agent = SandboxAgent(name="worker", model=model, instructions="Answer the question in notes.txt.")
manifest = Manifest(
    entries={
        "notes.txt": File(content=b"What is six times seven?\n"),
        ".env": File(content=b"TOKEN=secret\n"),
    }
)
client = PaddockSandboxClient(
    PaddockSandboxClientOptions(
        rules={"write": ["**"], "none": [".env*"]}, labels={"example": "openai_agents.py"}
    )
)


async def main():
    session = await client.create(manifest=manifest)
    async with session:
        config = RunConfig(sandbox=SandboxRunConfig(session=session), tracing_disabled=True)
        result = await Runner.run(agent, "Answer it.", run_config=config)
        print(result.final_output)
        print(model.calls[1].input)
        print(await session.sandbox.patch())


asyncio.run(main())
