import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { threadScript } from '../../../../app/thread-script.ts';
import { packThreads } from '../../../../app/threads/pack.mjs';
import { StoresInThreads } from '../../../../lib/codebases/tree/stores/stores-in-threads.ts';
import { chunks, codeOf } from '../scratch.ts';
import { archiveOf } from './archives.ts';
import { ServiceScratch } from './service.ts';

const large = 'l'.repeat(3_000_000);
/** Ends the thread of a store when it is asked to list this path. */
const END = 'end the thread';
const ending = `require('node:worker_threads').parentPort.on('message', ({ method, args }) => {
  if (method === 'list' && args[1].path === '${END}') process.exit();
});`;

let scratch: ServiceScratch;

beforeAll(async () => vi.stubGlobal('PADDOCK_THREADS', await packThreads({ target: 'node20.19' })));
afterAll(() => vi.unstubAllGlobals());
beforeEach(async () => {
  scratch = new ServiceScratch();
  const entry = (role: string) => `${ending}${threadScript(role)}`;
  const options = { path: scratch.folder, limits: scratch.limits, reserve: 0 };
  scratch.makeStores = (keeper) => new StoresInThreads(entry, options, keeper, 2);
  await scratch.open();
});
afterEach(() => scratch.remove());

const endThread = (id: string) =>
  scratch.codebases.listFiles(id, { path: END, recursive: false, page_size: 1, page_token: '' });

it('codebases are the same in threads of their own', async () => {
  const [one, two] = [await scratch.create(), await scratch.create()];
  await scratch.upload(one, 'd/small', 'small');
  await scratch.upload(one, 'large', large);
  expect(await scratch.text(one, 'large')).toBe(large);
  expect(await scratch.text(one, 'd/small', { start: 1, end: 3 })).toBe('ma');
  const { revision } = await scratch.codebases.importArchive(two, 'replace', chunks(await scratch.export(one)));
  expect(await scratch.codebases.get(two)).toMatchObject({ revision, file_count: 2, total_size: 3_000_005 });
  expect((await scratch.export(two)).equals(await scratch.export(one))).toBe(true);
  await expect(scratch.text(one, 'd')).rejects.toMatchObject({
    code: 'FAILED_PRECONDITION',
    message: '"d" is a directory',
  });
  await scratch.codebases.removeFile(one, 'd/small');
  expect(await scratch.list(one)).toEqual(['large']);
  await scratch.codebases.delete(one);
  expect(scratch.names).toEqual([two]);
});

it('a thread that ends is UNAVAILABLE to those who wait for it, and the next call has what was acknowledged', async () => {
  const id = await scratch.create();
  await scratch.upload(id, 'a', large);
  const file = await scratch.codebases.open(id, 'a');
  let proceed = () => {};
  const waiting = new Promise<void>((resolve) => {
    proceed = resolve;
  });
  async function* slow() {
    yield Buffer.from(large);
    await waiting;
    yield Buffer.from('end');
  }
  const upload = codeOf(scratch.codebases.upload(id, 'b', slow()));
  const archive = archiveOf([['c', large]]);
  async function* slowArchive() {
    yield archive.subarray(0, 1_500_000);
    await waiting;
    yield archive.subarray(1_500_000);
  }
  const importing = codeOf(scratch.codebases.importArchive(id, 'merge', slowArchive()));
  expect(await codeOf(endThread(id))).toBe('UNAVAILABLE');
  proceed();
  expect([await upload, await importing]).toEqual(['UNAVAILABLE', 'UNAVAILABLE']);
  const stream = file.read();
  expect(await codeOf(stream.toArray())).toBe('UNAVAILABLE');
  await file.close();
  expect(await scratch.list(id)).toEqual(['a']);
  await scratch.upload(id, 'b', 'b');
  expect(await scratch.text(id, 'b')).toBe('b');
  expect(scratch.unfinished(id)).toEqual([]);
});

it('a codebase can be deleted when its thread has ended', async () => {
  const [id, other] = [await scratch.create(), await scratch.create()];
  await scratch.upload(id, 'a', large);
  expect(await codeOf(endThread(id))).toBe('UNAVAILABLE');
  await scratch.upload(other, 'a');
  await scratch.codebases.delete(id);
  expect(scratch.names).toEqual([other]);
});
