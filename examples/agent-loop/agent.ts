// An agent loop in a sandbox: the model asks for commands, until it has an answer. Put a real model in place of `script`.
import { CommandTimeoutError, Sandbox } from 'paddock-sandbox';

type Reply = { run: string } | { answer: string };
interface Message {
  role: 'user' | 'model' | 'tool';
  text: string;
}

const script: Reply[] = [
  { run: 'python3 test.py; cat src/total.py' },
  { run: "sed -i 's/-/+/' src/total.py && python3 test.py" },
  { run: 'echo "print(1)" > test.py; cat private/token' },
  { answer: 'total() subtracted. It adds now, and the test passes.' },
];
const model = async (_conversation: readonly Message[]): Promise<Reply> => script.shift()!;

const STEPS = 20;
const project = process.argv[2] ?? `${import.meta.dirname}/project`;

// The agent may change src, sees nothing of private, and reads the rest.
await using sandbox = await Sandbox.create({
  from: project,
  labels: { example: 'agent-loop' },
  rules: { read: ['**'], write: ['src'], none: ['private'] },
});

async function run(command: string): Promise<string> {
  try {
    const { output, exitCode } = await sandbox.run(command, { timeout: '1m', maxOutput: 20_000, merge: true });
    return `${output}[exit code ${exitCode}]`;
  } catch (error) {
    if (error instanceof CommandTimeoutError) return `${error.output}\n[killed after a minute]`;
    throw error;
  }
}

const conversation: Message[] = [{ role: 'user', text: 'The test fails. Repair it.' }];
for (let step = 0; step < STEPS; step++) {
  const reply = await model(conversation);
  if ('answer' in reply) {
    console.log(reply.answer);
    break;
  }
  const result = await run(reply.run);
  conversation.push({ role: 'model', text: reply.run }, { role: 'tool', text: result });
  console.log(`$ ${reply.run}\n${result}`);
}

// What it changed: nothing is in the project before a `pull` (or in the codebase before a `commit`).
console.log(await sandbox.patch());
