import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Scratch } from './scratch.ts';

let scratch: Scratch;
beforeEach(async () => {
  scratch = new Scratch();
  await scratch.open();
});
afterEach(() => scratch.remove());

/** Uploads and removes in one codebase for as long as it lives; says so for each change when it was acknowledged. */
const CLIENT = `
  import { StoredCodebases } from ${JSON.stringify(join(import.meta.dirname, '../../../lib/codebases/codebases.ts'))};
  const [path, record] = [process.argv[2], JSON.parse(process.argv[3])];
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const codebases = await StoredCodebases.open({
    path, log,
    records: { get: () => record, values: () => [record], put: async () => {}, remove: async () => {}, advance: async () => true },
  });
  codebases.connect({
    usedBy: () => [],
    watcher: { baseChanging: async () => {}, baseChanged: async () => {}, baseRemoving: async () => {} },
    rebase: async () => {},
  });
  async function* content(text) {
    for (let i = 0; i < 20; i++) yield Buffer.from(text.repeat(500));
  }
  const work = async (worker) => {
    for (let i = 0; ; i++) {
      const path = 'w' + worker + '/d' + (i % 3) + '/f' + (i % 4);
      if (i % 5 === 4) {
        await codebases.removeFile(record.id, path).then(() => console.log(path + ' -'), () => {});
      } else {
        const { checksum } = await codebases.upload(record.id, path, content(i + ' of ' + worker + ';'));
        console.log(path + ' ' + checksum);
      }
    }
  };
  await Promise.all([0, 1, 2, 3].map(work));
`;

describe('a server killed while files change', () => {
  it('keeps every acknowledged change, no partial file, correct totals and no temporary file', {
    timeout: 60_000,
  }, async () => {
    const { id } = await scratch.codebases.create({ name: 'x', owner_id: '' });
    const client = join(scratch.path, 'client.mjs');
    const input = { contents: CLIENT, resolveDir: scratch.path, loader: 'ts' } as const;
    await build({ stdin: input, bundle: true, platform: 'node', format: 'esm', outfile: client, external: ['pino'] });
    for (let round = 0; round < 4; round++) {
      const acknowledged = await runAndKill(client, id, 60 + 37 * round);
      await scratch.verifyTotals();
      await scratch.open();
      expect(scratch.incoming(id)).toEqual([]);
      const otherwise: string[] = [];
      for (const [path, state] of acknowledged) {
        const text = await scratch.text(id, path).catch(() => undefined);
        expect([path, text === undefined || isWhole(text)]).toEqual([path, true]);
        if (stateOf(text) !== state) otherwise.push(path);
      }
      // Each worker had one change under way that may have been made unacknowledged; never two.
      const workers = otherwise.map((path) => path.split('/')[0]);
      expect(workers.length).toBe(new Set(workers).size);
      const { files } = await scratch.codebases.listFiles(id, {
        path: '',
        recursive: true,
        page_size: 1000,
        page_token: '',
      });
      const sizes = files.filter((file) => !file.is_dir).map((file) => file.size);
      expect(await scratch.counted(id)).toEqual([sizes.length, sizes.reduce((sum, size) => sum + size, 0)]);
    }
  });
});

function stateOf(text: string | undefined): string {
  return text === undefined ? '-' : createHash('sha256').update(text).digest('hex');
}

function isWhole(text: string): boolean {
  const unit = text.slice(0, text.indexOf(';') + 1);
  return text === unit.repeat(10_000);
}

/** The last acknowledged state of each path when the client was killed, in the middle of others. */
async function runAndKill(client: string, id: string, changes: number): Promise<Map<string, string>> {
  const record = JSON.stringify(scratch.records.get(id));
  const child = spawn(process.execPath, [client, join(scratch.path, 'codebases'), record], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const acknowledged = new Map<string, string>();
  let seen = 0;
  for await (const line of createInterface(child.stdout)) {
    const [path = '', checksum = ''] = line.split(' ');
    acknowledged.set(path, checksum);
    if (++seen === changes) child.kill('SIGKILL');
  }
  expect(seen).toBeGreaterThanOrEqual(changes);
  return acknowledged;
}
