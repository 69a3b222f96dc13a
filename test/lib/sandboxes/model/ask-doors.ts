import { CANARY } from './canary.ts';
import { agentArchive, agentFiles, changedFiles, changesOf, patchOf, UNREADABLE } from './doors.ts';
import type { Known } from './known.ts';
import { checkChanges, checkShown, fail, refuseCanary, requireSame, Violation } from './oracle.ts';
import type { Server } from './server.ts';
import { contentOf, isDirectory, isFile, type Tree } from './tree.ts';

/** Every door of a sandbox shows what it has, and nothing that it must not. */
export async function askDoors(
  server: Server,
  outside: ReadonlySet<number>,
  steps: number,
  known: Known,
  name: string,
  tree: Tree,
  base: Tree,
): Promise<void> {
  const { id } = known;
  const changes = await changesOf(server, id).catch((error) => fail(`ListChanges of ${name}: ${error}`));
  known.changes = changes;
  try {
    checkChanges(known, tree, base, changes);
  } catch (error) {
    throw error instanceof Violation ? new Violation(`${name}: ${error.message}`) : error;
  }
  if (changes.length > 0) {
    const expected = new Map(
      changes.filter(({ kind }) => kind !== 'CHANGE_DELETED').map(({ path }) => [path, plain(tree.get(path)!)]),
    );
    requireSame(`the changed files of ${name}`, await changedFiles(server, id), expected);
    const patch = await patchOf(server, id);
    if (patch.includes(CANARY)) fail(`the patch of ${name} has something outside of the codebase`);
  }
  if (!known.running) return;
  const seen = known.programs.seen();
  for (const ino of known.programs.inodes)
    if (outside.has(ino)) fail(`${name} is shown an inode outside of the codebase`);
  known.programs.inodes.clear();
  refuseCanary(`what programs of ${name} see`, seen);
  try {
    checkShown(known, seen, tree, base);
  } catch (error) {
    throw error instanceof Violation ? new Violation(`${name}: ${error.message}`) : error;
  }
  requireSame(`${name}: the file API shows, other than programs see`, await agentFiles(server, id), seen);
  const readable = new Map([...seen].filter(([, entry]) => entry !== UNREADABLE && entry !== 'l x'));
  requireSame(`${name}: the archive has, other than programs see`, await agentArchive(server, id), readable);
  const asked = [...seen.keys()][steps % Math.max(1, seen.size)];
  for (const [path, entry] of seen) {
    if (path !== asked) continue;
    const { permission, pass_through } = await server.call(() => server.sandboxes.explainPermission(id, path));
    if (permission === 'PERMISSION_NONE' && !(entry === 'd' && pass_through))
      fail(`${path} is shown and explained as hidden`);
  }
}

/** Without modes: as archives are compared. */
function plain(entry: string): string {
  if (isDirectory(entry)) return 'd';
  return isFile(entry) ? `f ${contentOf(entry)}` : entry;
}
