import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Codebase, PermissionRule, Sandbox } from '../../lib/contract/messages.ts';
import { collect } from '../contract/client.ts';
import { EVERYTHING, hide } from '../contract/rules.ts';
import type { Scene } from '../contract/scene.ts';
import { useServer } from '../contract/use-server.ts';
import { Program } from './program.ts';

const served = useServer();
let scene: Scene;
let codebase: Codebase;
let sandbox: Sandbox;
let watcher: Program;

/** inotify(7): `events(milliseconds)` returns what has come until nothing comes for so long, as "NAME of the event:path". */
const INOTIFY = `
import ctypes, struct, select
libc = ctypes.CDLL(None, use_errno=True)
names = {1: 'ACCESS', 2: 'MODIFY', 4: 'ATTRIB', 8: 'CLOSE_WRITE', 16: 'CLOSE_NOWRITE', 32: 'OPEN', 64: 'MOVED_FROM',
         128: 'MOVED_TO', 256: 'CREATE', 512: 'DELETE', 1024: 'DELETE_SELF', 2048: 'MOVE_SELF', 32768: 'IGNORED'}
inotify = libc.inotify_init1(0o4000)
paths = {}
def watch(path): paths[libc.inotify_add_watch(inotify, path.encode(), 0xfff & ~0x31)] = path
def events(wanted, quiet=0.3, patience=10):
    found = []
    until = time.time() + patience
    while time.time() < until:
        missing = [each for each in wanted if each not in found]
        if not select.select([inotify], [], [], 0.05 if missing else quiet)[0]:
            if missing: continue
            break
        data = os.read(inotify, 65536)
        while data:
            wd, mask, cookie, length = struct.unpack('iIII', data[:16])
            name = data[16:16 + length].rstrip(b'\\0').decode()
            data = data[16 + length:]
            text = names.get(mask & 0xffff, hex(mask)) + ' ' + '/'.join([paths[wd], name] if name else [paths[wd]])
            if not found or found[-1] != text: found.append(text)
    return found
`;

beforeEach(async () => {
  scene = served.scene();
  codebase = await scene.codebase({ 'd/f': 'old\n', 'd/g': 'g\n', 'd/secret': 's\n' });
  sandbox = await scene.sandbox(codebase, [...EVERYTHING, hide('/d/secret', 9)]);
  watcher = await Program.start(scene, sandbox);
  await watcher.ask(INOTIFY);
});
afterEach(() => scene.close());

const watch = (...paths: string[]) => watcher.ask(paths.map((path) => `watch('${path}')`).join('\n'));
/** What came, when all of these have come and nothing more comes. */
const events = (...wanted: string[]) => watcher.ask(`answer = events(${JSON.stringify(wanted)})`);
const write = (path: string, text: string, as = 'owner') =>
  scene.client.write('WriteFile', { sandbox_id: sandbox.id, as, path }, Buffer.from(text));

const setRules = (...rules: PermissionRule[]) =>
  scene.client.call('UpdatePermissions', { sandbox_id: sandbox.id, permissions: [...EVERYTHING, ...rules] });

const WRITTEN = ['MODIFY d/f', 'CLOSE_WRITE d/f'];
const MADE_F = ['CREATE d/f', ...WRITTEN];
const MADE = ['CREATE d/new', 'MODIFY d/new', 'CLOSE_WRITE d/new'];

describe('a program that watches a directory is told', () => {
  beforeEach(() => watch('d'));

  it('that a file is written to by the file API, again and again', async () => {
    for (const text of ['one', 'two', 'three']) {
      await write('d/f', text);
      expect(await events(...WRITTEN)).toEqual(WRITTEN);
    }
  });

  it('that a file is made by the file API', async () => {
    await write('d/new', 'new');
    expect(await events(...MADE)).toEqual(MADE);
  });

  it('that a directory is made and removed by the file API', async () => {
    await scene.client.call('MakeDirectory', { sandbox_id: sandbox.id, as: 'owner', path: 'd/e' });
    expect(await events('CREATE d/e')).toEqual(['CREATE d/e']);
    await scene.client.call('DeleteFile', { sandbox_id: sandbox.id, as: 'owner', path: 'd/e' });
    expect(await events('DELETE d/e')).toEqual(['DELETE d/e']);
  });

  it('that a file is moved and removed by the file API', async () => {
    await scene.client.call('MoveFile', { sandbox_id: sandbox.id, as: 'owner', from: 'd/f', to: 'd/new' });
    expect(await events('DELETE d/f', ...MADE)).toEqual(['DELETE d/f', ...MADE]);
    await scene.client.call('DeleteFile', { sandbox_id: sandbox.id, as: 'owner', path: 'd/new' });
    expect(await events('DELETE d/new')).toEqual(['DELETE d/new']);
  });

  it('what a discard makes, writes and removes', async () => {
    await scene.output(sandbox, 'echo changed > d/f; rm d/g; echo new > d/new');
    await events();
    await scene.client.call('Discard', { sandbox_id: sandbox.id, paths: [] });
    const wanted = ['CREATE d/g', 'MODIFY d/g', 'CLOSE_WRITE d/g', 'DELETE d/new', ...WRITTEN];
    expect(new Set((await events(...wanted)) as string[])).toEqual(new Set(wanted));
  });

  it('what an upload to the codebase writes and makes, and what its removal removes', async () => {
    await scene.client.upload(codebase.id, 'd/f', 'uploaded');
    expect(await events(...WRITTEN)).toEqual(WRITTEN);
    await scene.client.upload(codebase.id, 'd/new', 'uploaded');
    expect(await events(...MADE)).toEqual(MADE);
    await scene.rest.send('DELETE', `/v1/codebases/${codebase.id}/files/d/new`);
    expect(await events('DELETE d/new')).toEqual(['DELETE d/new']);
  });

  it('what the commit of another sandbox writes, makes and removes', async () => {
    const other = await scene.sandbox(codebase);
    await scene.output(other, 'echo changed > d/f; rm d/g; echo new > d/new');
    await scene.client.call('Commit', { sandbox_id: other.id, paths: [] });
    const wanted = ['DELETE d/g', ...WRITTEN, ...MADE];
    expect(new Set((await events(...wanted)) as string[])).toEqual(new Set(wanted));
  });

  it('what a rollback writes, makes and removes', async () => {
    await scene.output(sandbox, 'rm d/g; echo at the checkpoint > d/f; echo kept > d/kept');
    await scene.client.call('CreateCheckpoint', { sandbox_id: sandbox.id, name: 'then' });
    await scene.output(sandbox, 'echo again > d/g; echo changed > d/f; rm d/kept; echo new > d/new');
    await events();
    await scene.client.call('Rollback', { sandbox_id: sandbox.id, checkpoint: 'then' });
    const wanted = ['DELETE d/g', 'DELETE d/new', ...WRITTEN, 'CREATE d/kept', 'MODIFY d/kept', 'CLOSE_WRITE d/kept'];
    expect(new Set((await events(...wanted)) as string[])).toEqual(new Set(wanted));
  });

  it('what an archive writes and makes', async () => {
    await scene.output(
      sandbox,
      'mkdir /tmp/t; cd /tmp/t; echo f > f; mkdir e; echo deep > e/deep; tar -cf /workspace/a.tar f e',
    );
    const archive = await collect(
      scene.client.read('ReadFile', { sandbox_id: sandbox.id, as: 'owner', path: 'a.tar' }),
    );
    await scene.client.write('ImportFiles', { sandbox_id: sandbox.id, as: 'owner', path: 'd' }, archive);
    const wanted = [...WRITTEN, 'CREATE d/e'];
    expect(new Set((await events(...wanted)) as string[])).toEqual(new Set(wanted));
  });

  it('which names new rules hide and show', async () => {
    await setRules(hide('/d/f', 9));
    const wanted = ['DELETE d/f', 'CREATE d/secret', 'MODIFY d/secret', 'CLOSE_WRITE d/secret'];
    expect(new Set((await events(...wanted)) as string[])).toEqual(new Set(wanted));
    await setRules(hide('/d/secret', 9));
    expect(new Set((await events(...MADE_F, 'DELETE d/secret')) as string[])).toEqual(
      new Set([...MADE_F, 'DELETE d/secret']),
    );
  });

  it('nothing of a commit of its own sandbox', async () => {
    await scene.output(sandbox, 'echo changed > d/f; rm d/g; echo new > d/new');
    await events();
    await scene.client.call('Commit', { sandbox_id: sandbox.id, paths: [] });
    await write('d/g', 'after');
    expect(await events('CREATE d/g', 'CLOSE_WRITE d/g')).toEqual(['CREATE d/g', 'MODIFY d/g', 'CLOSE_WRITE d/g']);
  });

  it('nothing of a file that the rules hide', async () => {
    await scene.client.upload(codebase.id, 'd/secret', 'uploaded');
    await write('d/secret', 'written');
    await write('d/f', 'after');
    expect(await events(...WRITTEN)).toEqual(WRITTEN);
  });

  it('nothing of moves and removals of what the rules hide', async () => {
    await setRules(hide('/d/secret*', 9), hide('/d/secret*/**', 9));
    const move = (from: string, to: string) =>
      scene.client.call('MoveFile', { sandbox_id: sandbox.id, as: 'owner', from, to });
    await move('d/secret', 'd/secret-2');
    await scene.client.call('MakeDirectory', { sandbox_id: sandbox.id, as: 'owner', path: 'd/secrets' });
    await move('d/secret-2', 'd/secrets/f');
    await move('d/secrets', 'd/secrets-2');
    await scene.client.call('DeleteFile', {
      sandbox_id: sandbox.id,
      as: 'owner',
      path: 'd/secrets-2',
      recursive: true,
    });
    await write('d/f', 'after');
    expect(await events(...WRITTEN)).toEqual(WRITTEN);
  });

  it('of the visible half of a move alone, when the rules hide the other', async () => {
    const move = (from: string, to: string) =>
      scene.client.call('MoveFile', { sandbox_id: sandbox.id, as: 'owner', from, to, replace: true });
    await move('d/g', 'd/secret');
    expect(await events('DELETE d/g')).toEqual(['DELETE d/g']);
    await move('d/secret', 'd/new');
    expect(await events(...MADE)).toEqual(MADE);
  });
});

it('a program that watches a file is told of each replacement of it', async () => {
  await watch('d/f');
  for (const text of ['one', 'two', 'three']) {
    await write('d/f', text);
    expect(await events(...WRITTEN)).toEqual(WRITTEN);
    expect(await scene.output(sandbox, 'cat d/f')).toBe(text);
  }
});

it('a program that watches a file is told of its removal', async () => {
  await watch('d/f');
  await scene.client.call('DeleteFile', { sandbox_id: sandbox.id, as: 'owner', path: 'd/f' });
  expect(await events('DELETE_SELF d/f')).toContain('DELETE_SELF d/f');
});

it('node --watch starts a program again for each write of one of its files', async () => {
  const run = 'cd /workspace && (node --watch d/main.js > /tmp/out 2>&1 &)';
  await scene.output(
    sandbox,
    `echo "console.log(require('./part.js'))" > d/main.js; echo 'module.exports = "run 0"' > d/part.js; ${run}`,
  );
  // Node sees no second change of a file within half a second.
  const shown = (text: string) =>
    scene.output(sandbox, `until grep -q '${text}' /tmp/out; do sleep 0.02; done; sleep 0.6`);
  await shown('run 0');
  // It watches a file only after that was loaded.
  const watches = "cat /proc/[0-9]*/fdinfo/* 2>/dev/null | grep -c '^inotify'";
  await scene.output(sandbox, `until test "$(${watches})" -ge 2; do sleep 0.02; done`);
  for (const text of ['run 1', 'run 2', 'run 3']) {
    await write('d/part.js', `module.exports = "${text}"`, 'agent');
    await shown(text);
  }
});
