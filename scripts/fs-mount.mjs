#!/usr/bin/env node
/**
 * For developers only: mounts one workspace, to run other programs' test suites on it.
 *
 *   node scripts/fs-mount.mjs [SOURCE] MOUNTPOINT -o lowerdir=BASE,upperdir=DELTA[,OPTION...] [-f]
 *
 * The options are those of overlayfs, so the script can be a mount helper: lowerdir is the base, upperdir (empty or a
 * delta) stores the changes, workdir is ignored. More options: uid=N serves only this uid, as the service does
 * (default: every uid, with the stored owners and modes); rules=FILE reads the permission rules from a JSON file
 * (default: WRITE everywhere); max_bytes=N and max_files=N set the quota; format=tree imports lowerdir into a store of
 * objects in a temporary folder and mounts that (upperdir must be empty: it cannot be
 * mounted again yet). Other options are ignored. The command returns
 * when the file system is mounted; with -f it stays in the foreground. SIGTERM, or umount of MOUNTPOINT, ends it.
 */
import { execFile, fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { loadFileSystem } from './fs-mount/load.mjs';

const WATCH_MS = 50;
const EVERYTHING = [{ pattern: '/**', permission: 'PERMISSION_WRITE', type: 'PATTERN_GLOB', priority: 0 }];

const { mountPoint, options, foreground } = readArguments(process.argv.slice(2));
if (foreground) await serve().catch(report);
else await daemonize();

function readArguments(args) {
  const paths = [];
  const given = [];
  let stay = false;
  for (let i = 0; i < args.length; i++) {
    if (args[i] === '-f') stay = true;
    else if (args[i] === '-o') given.push(args[++i] ?? '');
    else if (args[i].startsWith('-o')) given.push(args[i].slice(2));
    else if (args[i] === '-t' || args[i] === '-N') i++;
    else if (!args[i].startsWith('-')) paths.push(args[i]);
  }
  const found = Object.fromEntries(
    given
      .flatMap((list) => list.split(','))
      .map((option) => [option.split('=', 1)[0], option.slice(option.indexOf('=') + 1)]),
  );
  if (paths.length < 1 || paths.length > 2 || !found.lowerdir || !found.upperdir)
    fail('fs-mount [SOURCE] MOUNTPOINT -o lowerdir=BASE,upperdir=DELTA[,OPTION...] [-f]');
  if (found.lowerdir.includes(':')) fail('lowerdir: a workspace has one base');
  return { mountPoint: resolve(paths.at(-1)), options: found, foreground: stay };
}

/** Mounts the file system of all workspaces in a private directory, and bind-mounts its only workspace at MOUNTPOINT. */
async function serve() {
  const directory = mkdtempSync(join(tmpdir(), 'paddock-mount-'));
  const fileSystem = await loadFileSystem();
  const workspaces = await fileSystem.mount(join(directory, 'mnt'));
  const stopped = new Promise((stop) => {
    for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => stop(signal));
    workspaces.exited.then(stop);
  });
  try {
    const path = await workspaces.attach(workspace(fileSystem, directory));
    // Not synchronously: this thread starts the threads that the first lookup may need.
    await promisify(execFile)('mount', ['-i', '--bind', path, mountPoint], { cwd: '/' });
    process.send?.({});
    if (process.connected) process.disconnect();
    const why = await Promise.race([stopped, unmounted(fileSystem)]);
    if (why !== 'unmounted') await fileSystem.unmount(mountPoint, 'detach');
  } finally {
    await workspaces.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

function workspace({ importTree }, directory) {
  const { uid, lowerdir, upperdir, rules, max_bytes, max_files, format } = options;
  const tree =
    format === 'tree' ? importTree(resolve(lowerdir), join(directory, 'store'), uid === undefined) : undefined;
  return {
    tree,
    id: 'workspace',
    codebaseId: 'codebase',
    base: resolve(lowerdir),
    delta: resolve(upperdir),
    uid: Number(uid ?? 0),
    anyUid: uid === undefined,
    rules: rules === undefined ? EVERYTHING : JSON.parse(readFileSync(rules, 'utf8')),
    maxBytes: Number(max_bytes ?? 0),
    maxFiles: Number(max_files ?? 0),
  };
}

async function unmounted({ findMount }) {
  while (await findMount(mountPoint)) await sleep(WATCH_MS);
  return 'unmounted';
}

/**
 * Runs this script in the background. The child inherits none of this process's streams, because the caller may wait
 * for their end; it reports an error before the mount by a message.
 * @returns {Promise<void>}
 */
function daemonize() {
  const child = fork(fileURLToPath(import.meta.url), [...process.argv.slice(2), '-f'], {
    detached: true,
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  return new Promise((settle) => {
    child.on('message', (/** @type {{ failed?: string }} */ { failed }) => {
      if (failed !== undefined) fail(failed);
      process.stdout.write(`${mountPoint}: process ${child.pid}\n`);
      child.disconnect();
      child.unref();
      settle();
    });
    child.on('exit', (code) => {
      process.exitCode = code || 1;
      settle();
    });
  });
}

function report(error) {
  if (!process.connected) throw error;
  process.send?.({ failed: error.message }, () => process.exit(1));
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
