import type { Sandbox } from 'paddock-sandbox';
import { CliError } from '../command-line/errors.ts';
import type { Written } from './home-files.ts';

/** Names and texts in turn. */
const SCRIPT =
  'set -e; umask 077; cd "$HOME"; while [ $# -gt 0 ]; do mkdir -p "$(dirname "$1")"; printf %s "$2" >"$1"; shift 2; done';

/** Writes the files into HOME of a sandbox, which belongs to its commands. */
export async function placeFiles(sandbox: Sandbox, files: readonly Written[], signal: AbortSignal): Promise<void> {
  if (files.length === 0) return;
  const words = files.flatMap(({ path, text }) => [path, text]);
  const { exitCode, stderr } = await sandbox.run(['/bin/sh', '-c', SCRIPT, 'sh', ...words], { signal });
  if (exitCode !== 0) throw new CliError(`the settings of the agent could not be written: ${stderr.trim()}`);
}
