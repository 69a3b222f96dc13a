import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { all } from '../../clients/cli/src/names/all.ts';
import { Paddock } from '../../clients/typescript/src/index.ts';
import { cli } from '../clients/cli/cli.ts';
import { PYTHON, pythonPath } from '../clients/python-packages.ts';
import { servedOnce } from '../clients/typescript/served.ts';

const served = servedOnce();
let directory: string;
let front: Server;
let url: string;
/** Paths of the requests so far. */
const seen: string[] = [];

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'paddock-options-'));
  await writeFile(join(directory, 'a'), 'a\n');
  // What the clients send.
  front = createServer((incoming, answer) => {
    seen.push(incoming.url!);
    const { method, headers } = incoming;
    const forwarded = request(`${served.url}${incoming.url}`, { method, headers }, (answered) => {
      answer.writeHead(answered.statusCode!, answered.headers);
      answered.pipe(answer);
    });
    incoming.pipe(forwarded);
  }).listen(0, '127.0.0.1');
  await once(front, 'listening');
  url = `http://127.0.0.1:${(front.address() as AddressInfo).port}`;
});
afterAll(async () => {
  front.closeAllConnections();
  front.close();
  await rm(directory, { recursive: true });
});
beforeEach(() => seen.splice(0));

const uploads = () => seen.filter((each) => each.includes('archive') || each.includes('files'));
const inTypeScript = async (options: object) => {
  await using sandbox = await new Paddock({ url }).sandboxes.create({ from: directory, ...options });
  return sandbox.id;
};

async function inPython(options: object): Promise<unknown> {
  const script = `import json, sys
from paddock_sandbox import Sandbox
options = json.loads(sys.argv[2])
with Sandbox.create(sys.argv[1], **options) as sandbox: print(sandbox.id)`;
  const env = { PATH: process.env.PATH, PYTHONPATH: pythonPath(), PYTHONDONTWRITEBYTECODE: '1', PADDOCK_URL: url };
  return promisify(execFile)(PYTHON, ['-c', script, directory, JSON.stringify(options)], { env });
}

const long = 'x'.repeat(2000);
const SECRET = { name: 'nothing', variable: 'TOKEN', hosts: ['example.com'] };
const ON = { mode: 'allow_list', rules: [] };

it.each([
  ['a pattern', { rules: { write: ['['] } }, /rules\.write/],
  ['a preset', { preset: 'no-such' }, /preset/],
  ['a label', { labels: { a: long } }, /labels/],
  ['an image', { image: 'no-such' }, /image "no-such" is no image/],
  [
    'a network rule',
    { network: { mode: 'allow_list', rules: [{ action: 'allow', host: '' }] } },
    /network\.rules\[0\]/,
  ],
  ['a secret that is not there', { network: ON, secrets: [SECRET] }, /secret/],
])('%s is refused before anything is uploaded', async (_, options, problem) => {
  await expect(inTypeScript(options)).rejects.toThrow(problem);
  await expect(inPython(options)).rejects.toThrow(problem);
  expect(uploads()).toEqual([]);
});

it.each([
  ['a pattern', ['--rule', 'write:['], /--rule/],
  ['a preset', ['--preset', 'no-such'], /--preset/],
  ['an image', ['--image', 'no-such'], /image "no-such" is no image/],
  ['a network preset', ['--allow-preset', 'no-such'], /--allow-preset must be one of npm/],
  ['a secret that is not there', ['--secret', 'nothing=TOKEN@example.com'], /secret/],
])('%s of the command line is refused before anything is uploaded', async (_, args, problem) => {
  for (const command of [['create'], ['run', '--apply', 'none']]) {
    const after = command[0] === 'run' ? ['--', 'true'] : [];
    const { code, stderr } = await cli([...command, '--from', directory, ...args, ...after], { url });
    expect([code, stderr]).toEqual([command[0] === 'run' ? 125 : 1, expect.stringMatching(problem)]);
  }
  expect(uploads()).toEqual([]);
});

it('options that are right upload once, and nothing is left of what was refused', async () => {
  await inTypeScript({});
  await inPython({});
  expect((await cli(['run', '--from', directory, '--apply', 'none', '--', 'true'], { url })).code).toBe(0);
  expect(uploads()).toHaveLength(3);
  const codebases = await all(served.paddock().codebases.list());
  expect(codebases).toEqual([]);
});
