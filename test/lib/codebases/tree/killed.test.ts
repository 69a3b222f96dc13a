import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ServiceScratch } from './service.ts';

/** Kills in a run: at calls of the disk that are spread over all. 0: at each. */
const KILLS = Number(process.env.PADDOCK_KILLS ?? 12);

let folder: string;
let client: string;

/**
 * Makes each kind of change of one codebase, and ends another one; says what it begins and what was acknowledged. It is killed
 * before the call of the disk with the number of its argument; with -1 it says how many there are.
 */
const CLIENT = `
  import { writeSync } from 'node:fs';
  import { hostDisk } from './lib/disk/host-disk.ts';
  import { ServiceScratch } from './test/lib/codebases/tree/service.ts';
  import { archiveOf } from './test/lib/codebases/tree/archives.ts';
  const [path, at] = [process.argv[2], Number(process.argv[3])];
  let calls = 0;
  const counted = (call) => (...args) => {
    if (calls++ === at) process.kill(process.pid, 'SIGKILL');
    return call(...args);
  };
  const say = (text) => writeSync(1, text + '\\n');
  const scratch = new ServiceScratch(path);
  scratch.disk = Object.fromEntries(Object.entries(hostDisk).map(([name, call]) => [name, counted(call)]));
  await scratch.open();
  const step = async (name, make) => {
    say('try ' + name);
    const made = await make();
    say('done ' + name + (typeof made === 'string' ? ' ' + made : ''));
    return made;
  };
  const id = await step('create', () => scratch.create());
  const large = 'l'.repeat(200_000);
  await step('a', () => scratch.upload(id, 'd/a', 'first'));
  await step('b', () => scratch.upload(id, 'd/b', large));
  await step('c', () => scratch.upload(id, 'd/a', 'second'));
  const archive = archiveOf([['d/i', 'i'], ['e', 'directory'], ['e/large', large + 'i'], ['d/l', { to: 'a' }]]);
  const bytes = async function* () { yield archive; };
  await step('import', () => scratch.codebases.importArchive(id, 'merge', bytes()).then(() => undefined));
  await step('remove', () => scratch.codebases.removeFile(id, 'd/b'));
  await step('replace', () => scratch.codebases.importArchive(id, 'replace', bytes()).then(() => undefined));
  await step('delete', () => scratch.codebases.delete(id));
  say('calls ' + calls);
`;

/** The files after each step. */
const STATES: Record<string, string[] | undefined> = {
  create: [],
  a: ['d', 'd/a=first'],
  b: ['d', 'd/a=first', 'd/b=200000'],
  c: ['d', 'd/a=second', 'd/b=200000'],
  import: ['d', 'd/a=second', 'd/b=200000', 'd/i=i', 'd/l', 'e', 'e/large=200001'],
  remove: ['d', 'd/a=second', 'd/i=i', 'd/l', 'e', 'e/large=200001'],
  replace: ['d', 'd/i=i', 'd/l', 'e', 'e/large=200001'],
  delete: undefined,
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'paddock-killed-trees-'));
  client = join(folder, 'client.mjs');
  await build({
    stdin: { contents: CLIENT, resolveDir: process.cwd(), loader: 'js' },
    outfile: client,
    bundle: true,
    platform: 'node',
    format: 'esm',
    banner: { js: "import { createRequire as r } from 'node:module'; const require = r(import.meta.url);" },
    logLevel: 'error',
  });
});
afterAll(() => rmSync(folder, { recursive: true }));

async function run(path: string, at: number): Promise<string[]> {
  const child = spawn(process.execPath, [client, path, String(at)], { stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.on('data', (bytes) => {
    said += bytes;
  });
  await once(child, 'close');
  return said.trim().split('\n');
}

/** What is stored; undefined: there is no codebase. */
async function stored(path: string): Promise<string[] | undefined> {
  const scratch = new ServiceScratch(path);
  await scratch.open();
  try {
    const [id, ...others] = [...scratch.metadata.codebases.values()].map((record) => record.id);
    expect(others).toEqual([]);
    for (const name of scratch.names) expect(name).toBe(id);
    if (id === undefined) return undefined;
    const shown = [];
    for (const name of await scratch.list(id)) {
      const text = await scratch.text(id, name).catch((error) => {
        expect(error.code).toBe('FAILED_PRECONDITION');
        return undefined;
      });
      shown.push(text === undefined ? name : `${name}=${text.length < 100 ? text : text.length}`);
    }
    expect(scratch.unfinished(id)).toEqual([]);
    await scratch.upload(id, 'more', 'more');
    expect(await scratch.text(id, 'more')).toBe('more');
    await scratch.codebases.delete(id);
    expect(scratch.names).toEqual([]);
    return shown;
  } finally {
    await scratch.codebases.close();
    await scratch.metadata.close();
  }
}

it('has after a kill -9 at any call of the disk what was acknowledged, or the whole of what was begun', {
  timeout: 60_000 + (KILLS === 0 ? 300 : KILLS) * 5000,
}, async () => {
  const whole = await run(mkdtempSync(join(folder, 'whole-')), -1);
  const calls = Number(/^calls (\d+)$/.exec(whole.at(-1)!)![1]);
  expect(calls).toBeGreaterThan(50);
  const step = KILLS === 0 ? 1 : calls / KILLS;
  for (let at = 0; at < calls; at += step) {
    const path = mkdtempSync(join(folder, 'killed-'));
    const said = await run(path, Math.floor(at));
    expect(said.at(-1)).not.toMatch(/^calls/);
    const named = (word: string) => said.findLast((line) => line.startsWith(word))?.split(' ')[1];
    const [before, begun] = [named('done'), named('try')!];
    const possible = [before === undefined ? undefined : STATES[before], STATES[begun]];
    expect(possible, `killed at call ${Math.floor(at)}, in ${begun}`).toContainEqual(await stored(path));
    rmSync(path, { recursive: true });
  }
});
