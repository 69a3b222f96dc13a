import { expect } from 'vitest';
import type { Sandbox } from '../../lib/contract/messages.ts';
import { collect } from './client.ts';
import type { Scene } from './scene.ts';
import { type Case, contract } from './suite.ts';

/**
 * Maps a file, closes its descriptor, then writes each value that it finds in /tmp/asked to the mapping and reports it
 * in /tmp/done. In between it sleeps.
 */
const PROGRAM = `
import ctypes, os, time
fd = os.open('f', os.O_RDWR)
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
address = libc.mmap(None, 4, 3, 1, fd, 0)
os.close(fd)
last = ''
while True:
    try: asked = open('/tmp/asked').read()
    except FileNotFoundError: asked = ''
    if asked != last and asked.endswith('.'):
        last = asked
        libc.mprotect(address, 4096, 3)
        ctypes.memmove(address, asked[:4].encode(), 4)
        # What was written counts, whatever the protection is now.
        libc.mprotect(address, 4096, 0)
        open('/tmp/done' + asked, 'w').close()
    time.sleep(0.01)
`;

/** Has the program write a value of four letters. */
const dirty = (scene: Scene, sandbox: Sandbox, value: string) =>
  scene.output(sandbox, `printf ${value}. > /tmp/asked; while ! test -e /tmp/done${value}.; do sleep 0.01; done`);

const f = (sandbox: Sandbox, as = 'agent') => ({ sandbox_id: sandbox.id, as, path: 'f' });
const text = async (bytes: AsyncIterable<Uint8Array>) => (await collect(bytes)).toString('latin1');

const cases: Case[] = [
  {
    name: 'what a program writes to a file that it has mapped and closed is seen by every reader while it runs',
    async run(scene) {
      const codebase = await scene.codebase({ f: '0000\n' });
      const sandbox = await scene.sandbox(codebase);
      await scene.output(sandbox, `cat > /tmp/program.py; python3 /tmp/program.py >/tmp/log 2>&1 &`, {
        stdin: PROGRAM,
      });
      await dirty(scene, sandbox, 'AAAA');
      expect(await text(scene.client.read('ReadFile', f(sandbox)))).toBe('AAAA\n');
      expect((await scene.client.call('ListChanges', { sandbox_id: sandbox.id })).changes).toMatchObject([
        { path: 'f' },
      ]);
      await dirty(scene, sandbox, 'BBBB');
      expect(await text(scene.client.read('ReadFile', f(sandbox, 'owner')))).toBe('BBBB\n');
      await dirty(scene, sandbox, 'CCCC');
      expect(await text(scene.client.read('ExportFiles', { ...f(sandbox), path: '' }))).toContain('CCCC\n');
      await dirty(scene, sandbox, 'DDDD');
      expect(await text(scene.client.read('ExportChanges', { sandbox_id: sandbox.id, format: 'patch' }))).toContain(
        '+DDDD\n',
      );
      await dirty(scene, sandbox, 'EEEE');
      const { results } = await scene.client.call('Fork', { sandbox_id: sandbox.id });
      const [{ sandbox: child } = {}] = results;
      scene.owns(child!);
      expect(await scene.output(child!, 'cat f')).toBe('EEEE\n');
      await dirty(scene, sandbox, 'FFFF');
      await scene.client.call('CreateCheckpoint', { sandbox_id: sandbox.id, name: 'F' });
      await dirty(scene, sandbox, 'GGGG');
      expect(await scene.output(sandbox, 'cat f')).toBe('GGGG\n');
      await scene.client.call('Rollback', { sandbox_id: sandbox.id, checkpoint: 'F' });
      expect(await text(scene.client.read('ReadFile', f(sandbox)))).toBe('FFFF\n');
      await dirty(scene, sandbox, 'HHHH');
      await scene.client.call('Commit', { sandbox_id: sandbox.id });
      expect(await scene.content(codebase, 'f')).toBe('HHHH\n');
    },
  },
];

contract('files that programs have mapped', cases);
