import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { Paddock } from 'paddock-sandbox';
import { expect, it } from 'vitest';

const EXAMPLES = resolve(import.meta.dirname, '../examples');

/** What each example prints. */
const PRINTED: Record<string, RegExp> = {
  'ai-sdk.ts': /stdout: '2\\n',.*No such file.*There are two tasks left/s,
  'computesdk.ts': /stdout: 'hello, paddock\\n',.*Permission denied.*name: 'hello.sh'/s,
  'deepagents.ts': /What is six times seven.*42\n.*No such file.*ai: The answer is in answer\.txt\.\n42/s,
  'openai-agents.ts': /The answer is in answer\.txt\.\n.*What is six.*No such file.*\n(.*\n)*\+42\n/,
};

it('has an expectation for every example', async () => {
  const files = (await readdir(EXAMPLES)).filter((name) => name.endsWith('.ts'));
  expect(files.sort()).toEqual(Object.keys(PRINTED).sort());
});

for (const [name, printed] of Object.entries(PRINTED)) {
  it(`runs ${name}, which leaves no sandbox`, async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [resolve(EXAMPLES, name)], { cwd: EXAMPLES });
    expect(stdout).toMatch(printed);
    const left = [];
    for await (const { id } of new Paddock().sandboxes.list({ labels: { example: name } })) left.push(id);
    expect(left).toEqual([]);
  });
}
