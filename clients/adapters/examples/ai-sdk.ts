// A tool of the Vercel AI SDK that works in a sandbox. The model is scripted: replace it by a real one.
import { generateText, isStepCount, tool } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { Sandbox } from 'paddock-sandbox';
import { z } from 'zod';
import { sandboxSession } from '../src/ai-sdk/index.ts';

const usage = { inputTokens: {}, outputTokens: {} } as never;
const input = JSON.stringify({ command: 'grep -c TODO src/*.txt && cat .env' });
const model = new MockLanguageModelV4({
  doGenerate: [
    {
      content: [{ type: 'tool-call', toolCallId: '1', toolName: 'shell', input }],
      finishReason: { unified: 'tool-calls', raw: undefined },
      usage,
      warnings: [],
    },
    {
      content: [{ type: 'text', text: 'There are two tasks left.' }],
      finishReason: { unified: 'stop', raw: undefined },
      usage,
      warnings: [],
    },
  ],
});

const shell = tool({
  description: 'Runs a command in the sandbox.',
  inputSchema: z.object({ command: z.string() }),
  // The signal of the call kills the command.
  execute: ({ command }, { experimental_sandbox: session, abortSignal }) =>
    session!.run({ command, ...(abortSignal && { abortSignal }) }),
});

await using sandbox = await Sandbox.create({
  labels: { example: 'ai-sdk.ts' },
  rules: { read: ['**'], write: ['src'], none: ['.env*'] },
});
await sandbox.files.write('src/tasks.txt', 'TODO one\ndone\nTODO two\n');
await sandbox.files.asOwner().write('.env', 'TOKEN=secret\n');
const { text, steps } = await generateText({
  model,
  prompt: 'How many tasks are left?',
  tools: { shell },
  stopWhen: isStepCount(5),
  experimental_sandbox: sandboxSession(sandbox),
});
console.log(steps[0]?.toolResults[0]?.output);
console.log(text);
