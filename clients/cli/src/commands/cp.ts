import { command, one } from '../command-line/command.ts';
import { CliError, UsageError } from '../command-line/errors.ts';
import type { Copied, Copy } from '../copy/copied.ts';
import { copyDown, packed } from '../copy/down.ts';
import { type Side, shownPath, sideOf } from '../copy/place-of.ts';
import { copyUp, unpackStream } from '../copy/up.ts';
import { UPLOAD_OPTIONS } from '../options/sandbox.ts';
import { printableName } from '../output/printable.ts';
import { sizeText } from '../output/progress.ts';
import { HOME_OPTIONS } from '../review/changes.ts';
import { warnOfUnpacked } from '../review/warn-of-archive.ts';
import { tellLeftOut } from '../run/report.ts';

type Remote = Extract<Side, { kind: 'sandbox' }>;
type Other = Exclude<Side, Remote>;

export const cp = command({
  summary: 'copy files into a sandbox, or out of it',
  details: `Paths of a sandbox are those of its workspace: "/workspace/a", "/a" and "a" are the same. A copy goes into a directory
that exists, unless SOURCE ends with "/.", as with docker cp. "-" is a tar archive on standard input or output. Modes and
times are kept. Nothing is written outside of TARGET.

Out of a sandbox, repositories like .git do not come, nor what would make a directory one. What tools run on sight comes
only if it is named. An archive has everything, and each of these is named on stderr.`,
  operands: { source: one('SOURCE|SANDBOX:PATH'), target: one('TARGET|SANDBOX:PATH') },
  options: {
    as: { oneOf: ['owner', 'agent'], help: '"owner" (default): without rules; "agent": as a command of the sandbox' },
    'follow-link': { short: 'L', help: 'copy what a symlink SOURCE points to' },
    ...HOME_OPTIONS,
    gitignore: UPLOAD_OPTIONS.gitignore,
    exclude: UPLOAD_OPTIONS.exclude,
    quiet: { short: 'q', help: 'no progress and no summary' },
  },
  examples: [
    'paddock cp notes.txt SANDBOX:docs/',
    'paddock cp SANDBOX:dist/. ./out',
    'tar -c . | paddock cp - SANDBOX:/',
    'paddock cp SANDBOX:src - | tar -t',
  ],
  async run(context, { values, operands }) {
    const { out, signal } = context;
    const { as = 'owner' } = values;
    const [from, to] = [sideOf(operands.source), sideOf(operands.target)];
    if ((from.kind === 'sandbox') === (to.kind === 'sandbox')) {
      throw new UsageError('exactly one of the two must be in a sandbox: SANDBOX:PATH');
    }
    const up = to.kind === 'sandbox';
    const remote = (up ? to : from) as Remote;
    const local = (up ? from : to) as Other;
    const isStream = local.kind === 'stream';
    if (!up && isStream && out.isTerminal) throw new CliError('standard output is a terminal; redirect the archive');
    if (up && isStream && process.stdin.isTTY) throw new CliError('standard input is a terminal; pipe the archive');
    const sandbox = await context.sandbox(remote.sandbox);
    const { id } = sandbox;
    const files = as === 'owner' ? sandbox.files.asOwner() : sandbox.files;
    const progress = values.quiet ? out.progress('') : out.progress('copying');
    const { git = false, take: allow = [], exclude = [], gitignore = false } = values;
    const pack = { gitignore, exclude, gitHooks: true };
    const copy: Copy = { files, followLinks: values['follow-link'] ?? false, git, allow, pack, signal, progress };
    if (!up && isStream) {
      const selection = { ...(remote.path !== '' && { paths: [remote.path] }), signal };
      await warnOfUnpacked(sandbox, { selection, format: 'tar' }, out);
      return out.flow(packed(remote, copy, (each) => tellLeftOut(each, out)));
    }
    const done = await transfer(up, local, remote, copy);
    for (const each of done.leftOut ?? []) tellLeftOut(each, out);
    if (out.json) out.value(done);
    else if (!values.quiet) {
      const where = up ? `${id}:${shownPath(done.path)}` : done.path;
      out.note(`copied ${countText(done)} to ${printableName(where)}`);
    }
  },
});

async function transfer(up: boolean, local: Other, remote: Remote, copy: Copy): Promise<Copied & { path: string }> {
  if (local.kind === 'stream') return { ...(await unpackStream(process.stdin, remote, copy)), path: remote.path };
  return up ? copyUp(local.path, remote, copy) : copyDown(remote, local.path, copy);
}

function countText({ files, directories, symlinks, bytes }: Copied): string {
  const counts = [
    [files, 'file'],
    [directories, 'directory'],
    [symlinks, 'symlink'],
  ] as const;
  const shown = counts.filter(([count, name]) => count > 0 || name === 'file');
  const plural = (count: number, name: string) =>
    count === 1 ? name : name === 'directory' ? 'directories' : `${name}s`;
  return `${shown.map(([count, name]) => `${count} ${plural(count, name)}`).join(', ')} (${sizeText(bytes)})`;
}
