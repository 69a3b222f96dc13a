import type { Sandbox } from '../../lib/contract/messages.ts';
import type { Scene } from './scene.ts';

export const ABSENT = 'No such file or directory';
export const DENIED = 'Permission denied';
/** EACCES or EPERM: the contract asks for no change, not for one of the two. */
export const REFUSED = 'refused';

/** What a command came to: its output, or the system's own words for the refusal. */
export async function outcome(scene: Scene, sandbox: Sandbox, command: string, more: object = {}): Promise<string> {
  const { stdout, stderr, exit_code } = await scene.run(sandbox, command, more);
  if (exit_code === 0) return stdout;
  // dash says no more than "No such file".
  if (stderr.includes('No such file')) return ABSENT;
  const words = [DENIED, 'Directory not empty', 'File exists', 'Operation not permitted', 'Is a directory'];
  return words.find((each) => stderr.includes(each)) ?? `exit ${exit_code}: ${stderr}`;
}
