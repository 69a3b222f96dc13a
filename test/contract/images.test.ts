import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { busybox, dockerSaveOf, ociOf, sha256, tarOf } from '../lib/images/archives.ts';
import type { CallError } from './client.ts';
import { expectRefusal, type Scene } from './scene.ts';
import { type Case, contract } from './suite.ts';

const SYSTEM = tarOf(busybox());
const ENV = ['PATH=/opt/tools:/usr/bin:/bin', 'GREETING=hello', 'HOME=/root', 'USER=root'];

/** An image of a name of its own, which the next case may find. */
async function imported(scene: Scene, name: string, archive: Buffer) {
  return scene.client.write('ImportImage', { name }, archive);
}

const cases: Case[] = [
  {
    name: 'runs the commands of a sandbox on the file system of an image, with its environment and the usual isolation',
    runtimes: ['bwrap'],
    async run(scene) {
      const top = tarOf([
        { name: 'opt/tools/greet', content: '#!/bin/sh\necho "$GREETING from $0"\n', mode: 0o755 },
        { name: 'bin/.wh.stat', content: '' },
        { name: 'workspace/planted', content: 'x' },
        { name: 'home/sandbox/planted', content: 'x' },
      ]);
      const image = await imported(scene, 'team/tools:1', ociOf([SYSTEM, top], { env: ENV }));
      expect(image).toMatchObject({ format: 'oci', env: { GREETING: 'hello' } });
      const sandbox = await scene.sandboxOn({ file: 'from the codebase' }, undefined, { image: 'team/tools:1' });
      expect(sandbox).toMatchObject({ image: image.id, runtime: 'RUNTIME_BWRAP' });
      expect(await scene.output(sandbox, 'greet')).toBe('hello from /opt/tools/greet\n');
      const seen =
        'cat file; echo; id; echo $HOME $USER; ls -d /* | grep -vx /sys; ls /workspace /home/sandbox; cat /var/lib/app/data';
      expect(await scene.output(sandbox, seen)).toBe(
        [
          'from the codebase',
          'uid=1000(sandbox) gid=1000(sandbox)',
          '/home/sandbox sandbox',
          ...['bin', 'dev', 'etc', 'home', 'opt', 'proc', 'run', 'srv', 'tmp', 'usr', 'var', 'workspace'].map(
            (d) => `/${d}`,
          ),
          '/home/sandbox:',
          '',
          '/workspace:',
          'file',
          'data',
        ].join('\n'),
      );
      expect((await scene.run(sandbox, 'test -e /bin/stat || test -L /bin/stat')).exit_code).toBe(1);
      const status = await scene.output(sandbox, 'cat /proc/self/status');
      for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb'])
        expect(status).toContain(`${set}:\t${'0'.repeat(16)}\n`);
      expect(status).toMatch(/^NoNewPrivs:\t1$/m);
      expect(status).toMatch(/^Seccomp:\t2$/m);
      for (const path of ['/x', '/bin/x', '/etc/x', '/srv/x', '/var/x', '/opt/tools/greet', '/dev/x']) {
        expect((await scene.run(sandbox, `echo x > ${path}`)).exit_code, path).not.toBe(0);
      }
      expect(
        await scene.output(sandbox, 'echo a > /workspace/a; echo b > /tmp/b; echo c > /var/tmp/c; cat a /tmp/b /tmp/c'),
      ).toBe('a\nb\nc\n');
      // Signals reach programs although this env(1) cannot reset them.
      expect(
        (await scene.run(sandbox, 'sleep 20', { timeout: 1 }).catch((error: CallError) => error)) as CallError,
      ).toMatchObject({ code: 'DEADLINE_EXCEEDED' });
      const session = await scene.client.call('CreateSession', { sandbox_id: sandbox.id });
      await scene.client.call('SessionExec', { session_id: session.id, command: 'cd /var/lib; v=1' });
      const kept = await scene.client.call('SessionExec', { session_id: session.id, command: 'echo $PWD $v' });
      expect(kept.stdout).toBe('/var/lib 1\n');
      const [fork] = (await scene.client.call('Fork', { sandbox_id: sandbox.id })).results;
      scene.owns(fork!.sandbox!);
      expect(await scene.output(fork!.sandbox!, 'greet; cat a')).toBe('hello from /opt/tools/greet\na\n');
    },
  },
  {
    name: 'is on the disk once for 20 sandboxes, none of which can write to it',
    runtimes: ['bwrap'],
    protocols: ['rest'],
    async run(scene) {
      const { id } = await imported(scene, 'shared', SYSTEM);
      // An owner has 10 sandboxes at most.
      const codebases = [await scene.codebase({}), await scene.codebase({}, `${scene.owner}-other`)];
      const file = '/var/lib/app/data';
      const seen = new Set<string>();
      for (let n = 0; n < 20; n++) {
        const sandbox = await scene.sandbox(codebases[n % 2]!, undefined, { image: id });
        seen.add(await scene.output(sandbox, `(echo ${n} > ${file}) 2>&-; stat -c '%d %i %h %s' ${file}; cat ${file}`));
      }
      expect([...seen]).toEqual([expect.stringMatching(/^\d+ \d+ 1 4\ndata$/)]);
    },
  },
  {
    name: 'lists, finds and deletes images, but none that a sandbox uses, also a stopped one',
    runtimes: ['bwrap'],
    async run(scene) {
      const { client } = scene;
      const name = `plain-${scene.client.protocol}`;
      const archive = tarOf(busybox([{ name: name, content: name }]));
      const image = await imported(scene, name, gzipSync(archive));
      expect(image).toMatchObject({ id: `sha256:${sha256(archive)}`, names: [name], format: 'tar' });
      expect(await imported(scene, name, archive)).toEqual(image);
      expect(await client.call('GetImage', { image: name })).toEqual(image);
      expect((await client.call('ListImages', {})).images).toContainEqual(image);
      const sandbox = await scene.sandboxOn({}, undefined, { image: image.id });
      await client.call('StopSandbox', { sandbox_id: sandbox.id });
      const error = await expectRefusal(client.call('DeleteImage', { image: name }), 'FAILED_PRECONDITION', /used by/);
      expect(error.message).toContain(sandbox.id);
      await client.call('StartSandbox', { sandbox_id: sandbox.id });
      expect(await scene.output(sandbox, `cat /bin/../etc/hostname`)).toBe('sandbox\n');
      await client.call('DestroySandbox', { sandbox_id: sandbox.id });
      await client.call('DeleteImage', { image: image.id });
      await expectRefusal(client.call('GetImage', { image: name }), 'NOT_FOUND', /image "plain-/);
      const create = scene.sandboxOn({}, undefined, { image: name });
      await expectRefusal(create, 'INVALID_ARGUMENT', /^image "plain-\S+" is no image of this server/);
    },
  },
  {
    name: 'refuses an archive that is no image, and a name that is a digest',
    runtimes: ['bwrap'],
    async run(scene) {
      const lie = (blobs: Map<string, Buffer>) => {
        for (const [name, bytes] of blobs) if (bytes[0] === 0x1f) blobs.set(name, gzipSync(SYSTEM.subarray(512)));
      };
      const refused = (archive: Buffer, why: RegExp, name = 'bad') =>
        expectRefusal(imported(scene, name, archive), 'INVALID_ARGUMENT', why);
      await refused(ociOf([SYSTEM], { lie }), /should have the digest/);
      await refused(Buffer.from('no archive at all'), /the archive cannot be imported/);
      await refused(tarOf([{ name: 'a', content: 'b' }]), /no program \/bin\/sh/);
      await refused(dockerSaveOf([tarOf([{ name: '../x' }])]), /contains "\.\."/);
      await refused(SYSTEM, /^name must be a name like/, `sha256:${'0'.repeat(64)}`);
      expect((await scene.client.call('ListImages', {})).images.flatMap(({ names }) => names)).not.toContain('bad');
      expect(readFileSync('/etc/hostname', 'utf8')).not.toBe('sandbox\n');
    },
  },
];

contract('images', cases);
