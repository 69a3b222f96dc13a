import { execFile } from 'node:child_process';
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { promisify } from 'node:util';
import { ServiceError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import { isOlder } from './arguments.ts';

const run = promisify(execFile);

/** An error of one line that tells the operator what to do. */
function cannot(reason: string): ServiceError {
  return new ServiceError('FAILED_PRECONDITION', `the bwrap runtime cannot work here: ${reason}`);
}

/** Known vulnerabilities that do not apply here, with the first fixed version and the reason. */
const ADVISORIES: readonly { fixed: readonly [number, number, number]; advisory: string; why: string }[] = [
  {
    fixed: [0, 12, 0],
    advisory: 'GHSA-pxhw-h44j-8pfx',
    why: 'it concerns mount points that bubblewrap creates below a directory that others can write to; this server has it create none there',
  },
];

/**
 * Checks everything that does not need a sandbox: platform, program, sysctls. Warnings are logged. Returns bwrap's
 * version. Throws FAILED_PRECONDITION.
 */
export async function checkHost(bwrapPath: string, log: Log): Promise<readonly number[]> {
  if (process.platform !== 'linux') throw cannot(`it needs Linux, not ${process.platform}`);
  let mode: number;
  try {
    accessSync(bwrapPath, constants.X_OK);
    mode = statSync(bwrapPath).mode;
  } catch {
    throw cannot(`no program at ${bwrapPath} (runtime.bwrap_path): install the package bubblewrap`);
  }
  if ((mode & 0o6000) !== 0) {
    throw cannot(`${bwrapPath} is setuid, which has been a way to root: chmod u-s it or install a current bubblewrap`);
  }
  const text = await version(bwrapPath);
  const numbers = /(\d+)\.(\d+)\.(\d+)/.exec(text)?.slice(1).map(Number) ?? [0, 0, 0];
  nameAdvisories(numbers, text, bwrapPath, log);
  if (sysctl('user/max_user_namespaces') === 0) {
    throw cannot('user namespaces are switched off: sysctl user.max_user_namespaces=15000');
  }
  if (process.getuid?.() !== 0 && sysctl('kernel/unprivileged_userns_clone') === 0) {
    throw cannot('user namespaces are kept for root: sysctl kernel.unprivileged_userns_clone=1, or run as root');
  }
  if (!/^Seccomp:/m.test(readFileSync('/proc/self/status', 'latin1'))) throw cannot('the kernel has no seccomp');
  return numbers;
}

/** Converts the failure of a test sandbox to an error, with advice if a known setting of the host is the cause. */
export function explainFailure(error: unknown): ServiceError {
  const said = error instanceof Error ? error.message : String(error);
  if (error instanceof ServiceError && error.code === 'FAILED_PRECONDITION') return error;
  if (sysctl('kernel/apparmor_restrict_unprivileged_userns') === 1 && /permission|not permitted/i.test(said)) {
    return cannot(
      'AppArmor keeps bwrap from making user namespaces: give /usr/bin/bwrap an AppArmor profile with "userns," or sysctl kernel.apparmor_restrict_unprivileged_userns=0',
    );
  }
  return cannot(said.replace(/^the sandbox did not start: /, 'a test sandbox did not start: '));
}

async function version(bwrapPath: string): Promise<string> {
  try {
    return (await run(bwrapPath, ['--version'], { env: {}, cwd: '/' })).stdout.trim();
  } catch (error) {
    throw cannot(`${bwrapPath} --version failed: ${(error as Error).message.split('\n')[0]}`);
  }
}

/** An administrator whose scanner reports this bubblewrap finds the answer in the log. */
function nameAdvisories(have: readonly number[], text: string, bwrapPath: string, log: Log): void {
  for (const { fixed, advisory, why } of ADVISORIES) {
    if (isOlder(have, fixed)) {
      log.info(`advisory ${advisory} of this bubblewrap does not apply here: ${why}`, {
        path: bwrapPath,
        version: text,
        fixed_in: fixed.join('.'),
      });
    }
  }
}

function sysctl(name: string): number | undefined {
  try {
    return Number(readFileSync(`/proc/sys/${name}`, 'latin1'));
  } catch {
    return undefined;
  }
}
