/** Starts one bwrap for each call, with the launcher's own isolation plan, which is imported from lib/runtime. */
import { spawn } from 'node:child_process';
import { chmodSync, chownSync, closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const ROOT = resolve(import.meta.dirname, '..');
/** Outside the server's default range, so it is never a sandbox's uid. */
const UID = 199_999;
const PLAN = `
  export { bwrapArguments, encodeArguments } from './lib/runtime/bwrap/arguments.ts';
  export { writeEtc } from './lib/runtime/bwrap/etc.ts';
  export { systemView } from './lib/runtime/bwrap/system.ts';
  export { filterFor } from './lib/runtime/seccomp/assemble.ts';
`;

/** Returns a function that runs `command` once in a new bwrap and resolves with its exit code. */
export async function bwrapPerCall(directory, command) {
  // bwrap runs as another user, who must be able to traverse to the workspace.
  chmodSync(directory, 0o711);
  const plan = await loadPlan(directory);
  const [etc, workspace, home, agentDir] = ['etc', 'workspace', 'home', 'agent'].map((name) => join(directory, name));
  for (const each of [workspace, home, agentDir]) mkdirSync(each, { recursive: true, mode: 0o755 });
  plan.writeEtc(etc);
  const root = process.getuid?.() === 0;
  if (root) for (const each of [workspace, home]) chownSync(each, UID, UID);

  const argumentsFile = join(directory, 'arguments');
  const args = plan.bwrapArguments(plan.systemView(etc, []), { workspace, home, agentDir });
  writeFileSync(argumentsFile, plan.encodeArguments(args));
  const seccompFile = join(directory, 'seccomp');
  writeFileSync(seccompFile, plan.filterFor(process.arch));

  return () =>
    new Promise((done, failed) => {
      // bwrap reads both files to their end, so each call needs file positions of its own.
      const descriptors = [openSync(argumentsFile, 'r'), openSync(seccompFile, 'r')];
      const child = spawn('/usr/bin/bwrap', ['--args', '3', '--', '/bin/sh', '-c', command], {
        cwd: '/',
        env: {},
        stdio: ['ignore', 'pipe', 'pipe', ...descriptors],
        ...(root && { uid: UID, gid: UID }),
      });
      for (const each of descriptors) closeSync(each);
      child.stdout?.resume();
      const errors = [];
      child.stderr?.on('data', (data) => errors.push(data));
      child.once('error', failed);
      child.once('close', (code) => (code === 0 ? done(code) : failed(new Error(`bwrap: ${Buffer.concat(errors)}`))));
    });
}

async function loadPlan(directory) {
  const outfile = join(directory, 'plan.mjs');
  await build({
    stdin: { contents: PLAN, resolveDir: ROOT, loader: 'ts' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    logLevel: 'error',
  });
  return import(pathToFileURL(outfile).href);
}
