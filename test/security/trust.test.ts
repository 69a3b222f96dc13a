import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Place } from '../server/program.ts';
import { attacks } from './suite.ts';

attacks('trust', (target) => {
  it('56: the server executes no file of a codebase, whatever its name', async () => {
    const { scene, state } = target;
    const canary = join(state.directory, 'canary');
    const script = `#!/bin/sh\ntouch ${canary}\n`;
    const planted = {
      '.git/hooks/post-checkout': script,
      '.git/hooks/pre-commit': script,
      '.git/config': `[core]\n\tfsmonitor = touch ${canary}\n\tsshCommand = touch ${canary}\n`,
      '.npmrc': `node-options=--require ${canary}.js\n`,
      'package.json': `{"scripts":{"preinstall":"touch ${canary}","prepare":"touch ${canary}"}}`,
      '.env': `PATH=${state.directory}\n`,
      '.profile': script,
      'bin/sh': script,
      'sitecustomize.py': `open('${canary}', 'w')\n`,
    };
    const codebase = await scene.codebase(planted);
    const sandbox = await scene.sandbox(codebase);
    for (const path of Object.keys(planted)) await scene.content(codebase, path);
    await scene.output(sandbox, 'chmod -R +x . && git status >/dev/null 2>&1; ls', {
      env: { PATH: '/workspace/bin:/usr/bin:/bin' },
    });
    await scene.client.call('StopSandbox', { sandbox_id: sandbox.id });
    await scene.client.call('StartSandbox', { sandbox_id: sandbox.id });
    await scene.client.call('DestroySandbox', { sandbox_id: sandbox.id });
    expect(existsSync(canary)).toBe(false);
  });

  it('58: metadata, codebases and deltas are not accessible to other users', async () => {
    const { scene, state } = target;
    const sandbox = await scene.sandboxOn({ 'a.txt': 'a' });
    await scene.output(sandbox, 'echo x >b; chmod 777 b; mkdir -m 777 d; echo y >d/e');
    const others = 0o007;
    expect(statSync(join(state.directory, 'metadata.json')).mode & 0o077).toBe(0);
    for (const place of ['codebases', 'mounts/deltas', 'mounts/layers'])
      expect(statSync(join(state.directory, place)).mode & others, place).toBe(0);
    // As the sandbox's own user on the host, with every path that it could know.
    const uid = statSync(join(state.directory, 'mounts/deltas')).uid === 0 ? state.uids.start : 65_534;
    const script = `ls -R ${state.directory}/* /run/paddock/agents-*/* 2>/dev/null; cat ${state.directory}/metadata.json; find ${state.directory} -writable ! -type l`;
    const args = ['--reuid', String(uid), '--regid', String(uid), '--clear-groups', '/bin/sh', '-c', script];
    const { stdout } = spawnSync('setpriv', args, { cwd: '/' });
    expect(stdout.toString()).not.toMatch(/a\.txt|codebase_id|deltas:|layers:|sb_/);
  });

  it('58: a command creates only unprivileged files of its own on the host: no setuid file, no other owner, no device', async () => {
    const { scene, state } = target;
    const sandbox = await scene.sandboxOn({});
    await scene.output(sandbox, 'cp /bin/sh s; chmod 6777 s; touch t; chmod 1777 t; mkdir g; chmod 2777 g');
    const places = ['deltas', 'layers'].map((name) => join(state.directory, 'mounts', name));
    const found = spawnSync('find', [...places, '-type', 'f', '-perm', '/6000']);
    expect(found.stdout.toString()).toBe('');
  });
});

describe('60: on a machine that cannot isolate sandboxes, the server', () => {
  const start = async (wrap: (argv: string[]) => string[], sections: string) => {
    const place = new Place();
    try {
      place.config(sections);
      const server = join(import.meta.dirname, '../../dist/server.mjs');
      const [program, ...argv] = wrap([process.execPath, server, '-config', 'server.yaml']);
      const { status, stdout, stderr } = spawnSync(program!, argv, {
        cwd: place.folder,
        env: { PATH: process.env.PATH },
        timeout: 30_000,
      });
      return { status, said: `${stdout}${stderr}`.trim().split('\n').at(-1), left: readdirSync(place.folder) };
    } finally {
      place.remove();
    }
  };
  /** In a mount namespace of its own, so the machine's /dev/fuse is not changed. */
  const inMounts = (script: string) => (argv: string[]) => [
    'unshare',
    '-m',
    'sh',
    '-c',
    `${script}; exec "$@"`,
    'sh',
    ...argv,
  ];
  const same = (argv: string[]) => argv;

  it('does not start without /dev/fuse', async () => {
    const { status, said } = await start(inMounts('mount --bind /dev/null /dev/fuse'), '');
    expect(status).toBe(1);
    expect(said).toMatch(/fuse/i);
  });

  it('does not start without user namespaces', async () => {
    // In a user namespace that may contain no other.
    const none = (argv: string[]) => [
      'unshare',
      '-Urm',
      'sh',
      '-c',
      'echo 0 >/proc/sys/user/max_user_namespaces; exec "$@"',
      'sh',
      ...argv,
    ];
    const { status, said } = await start(none, '');
    expect(status).toBe(1);
    expect(said).toMatch(/user namespaces|bwrap/);
  });

  it.each([
    ['that does not isolate', 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"', /did not start/],
    [
      'that leaves the filter out',
      'tr "\\0" "\\n" <&3 | grep -v -x -e --seccomp -e 4 | tr "\\n" "\\0" >"$0.args"; exec 3<"$0.args"; exec /usr/bin/bwrap "$@"',
      /seccomp has no effect/,
    ],
    ['that ends at once', 'exit 0', /did not start/],
    ['that fails with an unknown message', 'echo nothing here >&2; exit 1', /nothing here/],
  ])('does not start with a bwrap %s', async (_, script, says) => {
    const place = new Place();
    try {
      chmodSync(place.folder, 0o777);
      const stub = join(place.folder, 'bwrap');
      writeFileSync(stub, `#!/bin/sh\n[ "$1" = --version ] && { echo bubblewrap 0.12.0; exit; }\n${script}\n`, {
        mode: 0o755,
      });
      const { status, said } = await start(same, `runtime: {bwrap_path: ${stub}}`);
      expect(status).toBe(1);
      expect(said).toMatch(says);
    } finally {
      place.remove();
    }
  });

  it('does not start with a setuid bwrap', async () => {
    const place = new Place();
    try {
      const copy = join(place.folder, 'bwrap');
      copyFileSync('/usr/bin/bwrap', copy);
      chmodSync(copy, 0o4755);
      const { status, said } = await start(same, `runtime: {bwrap_path: ${copy}}`);
      expect(status).toBe(1);
      expect(said).toMatch(/setuid/);
    } finally {
      place.remove();
    }
  });
});
