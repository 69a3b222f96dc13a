// An agent of the OpenAI Agents SDK in a sandbox. The model is scripted: replace it by the name of a real one.
import { run } from '@openai/agents';
import { Manifest, SandboxAgent } from '@openai/agents/sandbox';
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing';
import { PaddockClient } from '../src/openai-agents/index.ts';

const model = new ScriptedModel([
  [functionCall('exec_command', { cmd: 'cat notes.txt .env' }, { callId: '1' })],
  [
    {
      type: 'apply_patch_call',
      callId: '2',
      status: 'completed',
      operation: { type: 'create_file', path: 'answer.txt', diff: '+42' },
    },
  ],
  [assistantMessage('The answer is in answer.txt.')],
]);

const agent = new SandboxAgent({ name: 'worker', model, instructions: 'Answer the question in notes.txt.' });
const manifest = new Manifest({
  entries: {
    'notes.txt': { type: 'file', content: 'What is six times seven?\n' },
    '.env': { type: 'file', content: 'TOKEN=secret\n' },
  },
});
const client = new PaddockClient({
  labels: { example: 'openai-agents.ts' },
  rules: { write: ['**'], none: ['.env*'] },
});
const session = await client.create({ manifest });
try {
  const { finalOutput } = await run(agent, 'Answer it.', { sandbox: { session } });
  console.log(finalOutput);
  console.log(JSON.stringify(model.calls[1]?.request.input));
  console.log(await session.sandbox.patch());
} finally {
  await session.close();
}
