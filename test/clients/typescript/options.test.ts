import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InvalidArgumentError, Paddock, type Sandbox } from '../../../clients/typescript/src/index.ts';
import { servedOnce } from './served.ts';

const SPEC = resolve(import.meta.dirname, '../../../clients/spec/options.json');
const { cases } = JSON.parse(readFileSync(SPEC, 'utf8')) as { cases: { method: string; option: string }[] };
const served = servedOnce();
let sandbox: Sandbox;
let directory: string;

beforeAll(async () => {
  sandbox = await served.paddock().sandboxes.create();
  directory = mkdtempSync(join(tmpdir(), 'paddock-options-'));
});
afterAll(async () => {
  await sandbox.destroy();
  rmSync(directory, { recursive: true });
});

const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
const snake = (text: string) => text.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Calls each method with an option that it does not have. */
function calls(given: object): Record<string, () => unknown> {
  const { files, rules, ports, network } = sandbox;
  const { codebases, sandboxes } = served.paddock();
  return {
    run: () => sandbox.run('touch done', given),
    stream: () => sandbox.stream('touch done', given).next(),
    start: () => sandbox.start('touch done', given),
    session: () => sandbox.session(given),
    'session.run': async () => (await sandbox.session()).run('touch done', given),
    changes: () => sandbox.changes(given),
    patch: () => sandbox.patch(given),
    commit: () => sandbox.commit(given),
    discard: () => sandbox.discard(given),
    pull: () => sandbox.pull(directory, given),
    checkpoint: () => sandbox.checkpoint('a', given),
    fork: () => sandbox.fork(given),
    stop: () => sandbox.stop(given),
    destroy: () => sandbox.destroy(given),
    create: () => sandboxes.create(given),
    'files.read': () => files.read('a', given),
    'files.write': () => files.write('a', 'x', given),
    'files.list': () => files.list('', given).next(),
    'files.remove': () => files.remove('a', given),
    'files.mkdir': () => files.mkdir('a', given),
    'files.upload': () => files.upload(directory, '', given),
    'rules.explain': () => rules.explain('a', given),
    'ports.list': () => ports.list(given),
    'network.explain': () => network.explain('a', given),
    'codebases.upload': () => codebases.upload(sandbox.info.codebaseId, directory, given),
    'codebases.list': () => codebases.list(given).next(),
    'sandboxes.list': () => sandboxes.list(given).next(),
  };
}

describe('an option that a method does not have is refused by its name', () => {
  it.each(cases)('$option of $method', async ({ method, option }) => {
    const failed = (error: unknown) => error as Error;
    const error = await Promise.resolve(calls({ [camel(option)]: 'x' })[method]!()).then(() => undefined, failed);
    expect(error).toBeInstanceOf(InvalidArgumentError);
    expect(snake(error!.message)).toContain(`${option} is not a known`);
    expect(await sandbox.changes()).toEqual([]);
  });

  it('also a listener, which no request could have', async () => {
    const wrong = { onStdOut: () => undefined };
    await expect(sandbox.run('true', wrong as object)).rejects.toThrow('onStdOut is not a known option');
  });

  it('also a setting of a client', () => {
    expect(() => new Paddock({ adress: 'http://a' } as object)).toThrow(
      'adress is not a known option; allowed are url,',
    );
  });
});
