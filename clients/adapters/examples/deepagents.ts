// A deep agent of LangChain in a sandbox. The model is scripted: replace it by the name of a real one.
import { AIMessage } from '@langchain/core/messages';
import { fakeModel } from '@langchain/core/testing';
import { createDeepAgent } from 'deepagents';
import { Sandbox } from 'paddock-sandbox';
import { PaddockBackend } from '../src/deepagents.ts';

const model = fakeModel()
  .respondWithTools([{ name: 'read_file', args: { file_path: '/workspace/notes.md' } }])
  .respondWithTools([{ name: 'execute', args: { command: 'echo $((6 * 7)) | tee answer.txt; cat secrets/key' } }])
  .respond(new AIMessage('The answer is in answer.txt.'));

await using sandbox = await Sandbox.create({
  labels: { example: 'deepagents.ts' },
  rules: { write: ['**'], none: ['secrets'] },
});
await sandbox.files.write('notes.md', 'What is six times seven?\n');
await sandbox.files.asOwner().write('secrets/key', 'hidden\n');
const agent = createDeepAgent({ model, backend: new PaddockBackend(sandbox) });
const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'Answer the question in notes.md.' }] });
for (const message of messages) if (message.text) console.log(`${message.type}: ${message.text}`);
console.log(await sandbox.files.readText('answer.txt'));
