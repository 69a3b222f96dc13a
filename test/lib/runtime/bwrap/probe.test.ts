import { chmodSync, copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Log, silentLog } from '../../../../lib/log.ts';
import { createBwrapRuntime } from '../../../../lib/runtime/bwrap/index.ts';
import { instanceDir } from '../../../../lib/runtime/bwrap/instance.ts';

const dir = mkdtempSync('/tmp/paddock-probe-');
beforeAll(() => chmodSync(dir, 0o711));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

let count = 0;
function runtimeWith(bwrapPath: string, log: Log = silentLog) {
  const stateDir = join(dir, `state-${++count}`);
  return { stateDir, runtime: createBwrapRuntime({ bwrapPath, stateDir, log }) };
}

/** Creates a program that takes the place of bwrap. */
function fake(script: string, version = '0.12.0'): string {
  const path = join(dir, `bwrap-${++count}`);
  writeFileSync(path, `#!/bin/sh\n[ "$1" = --version ] && { echo bubblewrap ${version}; exit; }\n${script}\n`, {
    mode: 0o755,
  });
  return path;
}

async function refusal(bwrapPath: string): Promise<string> {
  const { runtime, stateDir } = runtimeWith(bwrapPath);
  const error = await runtime.probe().then(
    () => undefined,
    (thrown: unknown) => thrown as { code: string; message: string },
  );
  expect(error?.code).toBe('FAILED_PRECONDITION');
  expect(error?.message).not.toContain('\n');
  expect(existsSync(instanceDir(stateDir, true))).toBe(false);
  return error?.message ?? '';
}

describe('the probe of bwrap', () => {
  it('passes on this machine', async () => {
    const warnings: string[] = [];
    const log: Log = {
      ...silentLog,
      warn: (message, fields) => void warnings.push(`${message} ${JSON.stringify(fields)}`),
    };
    const { runtime, stateDir } = runtimeWith('/usr/bin/bwrap', log);
    await runtime.probe();
    await runtime.close();
    expect(existsSync(instanceDir(stateDir, true))).toBe(false);
    for (const warning of warnings) expect(warning).toMatch(/cgroups|root/);
  });

  it('says at info, not as a warning, why an advisory about an old bubblewrap does not apply', async () => {
    const said: string[] = [];
    const log: Log = { ...silentLog, info: (message) => void said.push(message) };
    const path = fake('exec /usr/bin/bwrap "$@"', '0.11.9');
    const { runtime } = runtimeWith(path, log);
    await runtime.probe();
    await runtime.close();
    expect(said[0]).toMatch(/^advisory GHSA-\S+ of this bubblewrap does not apply here: it concerns mount points/);
  });

  it('fails without bwrap, and names the package to install', async () => {
    expect(await refusal(join(dir, 'nothing'))).toMatch(/no program at .*nothing .*install the package bubblewrap/);
  });

  it('refuses a file that is not a program', async () => {
    const path = join(dir, 'text');
    writeFileSync(path, 'x', { mode: 0o644 });
    expect(await refusal(path)).toMatch(/no program at/);
  });

  it('refuses a setuid bwrap', async () => {
    const path = join(dir, 'setuid');
    copyFileSync('/usr/bin/bwrap', path);
    chmodSync(path, 0o4755);
    expect(await refusal(path)).toMatch(/setuid/);
  });

  it('refuses another program', async () => {
    expect(await refusal('/bin/false')).toMatch(/--version failed/);
  });

  it("fails with bwrap's message if a sandbox cannot be created", async () => {
    const said = 'echo "bwrap: No permissions to create a new namespace" >&2; exit 1';
    expect(await refusal(fake(said))).toMatch(/a test sandbox did not start: bwrap: No permissions/);
    expect(await refusal(fake('exit 7'))).toMatch(/did not start: bwrap ended with exit code 7/);
    expect(await refusal(fake('kill -9 $$'))).toMatch(/did not start: bwrap ended with SIGKILL/);
  });

  it('fails if sandboxes start without the seccomp filter', async () => {
    // Removes --seccomp FD from the arguments: incomplete isolation must not be used.
    const strip = [
      'perl -e \'local $/; open($f, "<&=3"); @a = split /\\0/, <$f>; for ($i = 0; $i < @a; $i++) {',
      'if ($a[$i] eq "--seccomp") { $i++; next } push @b, $a[$i] } print map { "$_\\0" } @b\' >/tmp/paddock-probe-args-$$',
      'exec 3</tmp/paddock-probe-args-$$; rm -f /tmp/paddock-probe-args-$$; exec /usr/bin/bwrap "$@" 4<&-',
    ].join('\n');
    expect(await refusal(fake(strip))).toMatch(/seccomp has no effect/);
  });
});
