import { HOME_OPTIONS } from '../changes.ts';
import { command } from '../command.ts';
import type { Copied, Copy } from '../copy/copied.ts';
import { copyDown, packed } from '../copy/down.ts';
import { type Side, shownPath, sideOf } from '../copy/place-of.ts';
import { copyUp, unpackStream } from '../copy/up.ts';
import { CliError, UsageError } from '../errors.ts';
import { Sink } from '../exec/sink.ts';
import { printableName } from '../printable.ts';
import { sizeText } from '../progress.ts';
import { sandboxOf } from '../resolve.ts';
import { tellLeftOut } from '../run/report.ts';

type Remote = Extract<Side, { kind: 'sandbox' }>;
type Other = Exclude<Side, Remote>;

export default command({
  name: 'cp',
  summary: 'copy files into a sandbox, or out of it',
  usage: 'SOURCE SANDBOX:PATH | SANDBOX:PATH TARGET',
  details: `Paths of a sandbox are those of its workspace: "/workspace/a", "/a" and "a" are the same. Names, existing
directories and "/." are as with docker cp; "-" is a tar archive on standard input or output. Modes and times are kept.
What is copied out of a sandbox is never written outside of TARGET. Repositories like .git are left out, what would make
a directory one, and, unless it is named, what tools run on sight. An archive ("-") has everything.`,
  options: {
    as: {
      type: 'string',
      value: 'WHO',
      help: '"owner" (default): without rules; "agent": as a command of the sandbox',
    },
    'follow-link': { type: 'boolean', short: 'L', help: 'copy what a symlink SOURCE points to' },
    ...HOME_OPTIONS,
    quiet: { type: 'boolean', short: 'q', help: 'no progress and no summary' },
  },
  examples: [
    'paddock cp notes.txt SANDBOX:docs/',
    'paddock cp SANDBOX:dist/. ./out',
    'tar -c . | paddock cp - SANDBOX:/',
    'paddock cp SANDBOX:src - | tar -t',
  ],
  operands: [2, 2],
  async run(context, { values, operands }) {
    const { out, signal } = context;
    const { as = 'owner' } = values;
    if (as !== 'owner' && as !== 'agent') throw new UsageError(`--as is owner or agent, not ${JSON.stringify(as)}`);
    const [from, to] = [sideOf(operands[0]!), sideOf(operands[1]!)];
    if ((from.kind === 'sandbox') === (to.kind === 'sandbox')) {
      throw new UsageError('exactly one of the two must be in a sandbox: SANDBOX:PATH');
    }
    const up = to.kind === 'sandbox';
    const remote = (up ? to : from) as Remote;
    const local = (up ? from : to) as Other;
    if (!up && local.kind === 'stream' && out.isTerminal) throw new CliError('an archive is not for a terminal');
    if (up && local.kind === 'stream' && process.stdin.isTTY)
      throw new CliError('standard input is a terminal; pipe the archive');
    const { id, files } = await sandboxOf(await context.paddock(), remote.sandbox, context);
    const progress = values.quiet ? out.progress('') : out.progress('copying');
    const { git = false, allow = [] } = values;
    const copy: Copy = { files, as, followLinks: values['follow-link'] ?? false, git, allow, signal, progress };
    const done = await transfer(up, local, remote, copy);
    for (const each of done?.leftOut ?? []) tellLeftOut(each, out);
    if (out.json && done) out.value(done);
    else if (!values.quiet && done) {
      const where = up ? `${id}:${shownPath(done.path)}` : done.path;
      out.note(`copied ${countText(done)} to ${printableName(where)}`);
    }
    return 0;
  },
});

async function transfer(
  up: boolean,
  local: Other,
  remote: Remote,
  copy: Copy,
): Promise<(Copied & { path: string }) | undefined> {
  if (up && local.kind === 'stream') {
    return { ...(await unpackStream(process.stdin, remote, copy)), path: remote.path };
  }
  if (local.kind !== 'stream') return up ? copyUp(local.path, remote, copy) : copyDown(remote, local.path, copy);
  const sink = new Sink(process.stdout);
  for await (const piece of packed(remote, copy)) await sink.flow(piece);
  await sink.end();
  return undefined;
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
