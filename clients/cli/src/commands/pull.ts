import { any, command, one, optional } from '../command-line/command.ts';
import { EXIT, UsageError } from '../command-line/errors.ts';
import { pullCommits } from '../commits/pull.ts';
import { refreshIndex } from '../commits/refresh-index.ts';
import { commitsApart, hasCommitted } from '../commits/settle.ts';
import { bytesOf } from '../options/sizes.ts';
import { choiceOf, HOME_OPTIONS, takenPaths } from '../review/changes.ts';
import { bring } from '../run/bring.ts';
import { report } from '../run/report.ts';

export const pull = command({
  summary: 'bring the changes of a sandbox to the local directory that it was made from',
  details: `
Files that were edited here since the upload are merged line by line. If both sides changed the same lines, it is a
conflict: the version here stays, and the exit code is 1. Changes in .git, and those that would make a directory a
repository, are left out. So is what tools run on sight, unless it is named.

--commits brings what was committed with git in the sandbox instead, as the branch paddock/NAME. Nothing is checked out.
NAME is that of the sandbox, or the beginning of its id.`,
  operands: { sandbox: one('SANDBOX'), directory: optional('DIR'), paths: any('PATH') },
  options: {
    'dry-run': { short: 'n', help: 'only say what would be done' },
    replace: { help: "take the sandbox's version also where files were edited here; these edits are lost" },
    commits: { help: 'bring commits instead of files, as a branch of the repository here' },
    ...HOME_OPTIONS,
    exclude: { multiple: true, value: 'GLOB', help: 'not these paths' },
    'max-bytes': {
      value: 'SIZE',
      read: bytesOf,
      help: 'the most that comes, like 4g (default: 1g); further files are left out',
    },
  },
  examples: ['paddock pull SANDBOX', 'paddock pull SANDBOX --commits', 'paddock pull SANDBOX . src --dry-run'],
  async run(context, { operands: { sandbox: given, directory = '.', paths }, values }) {
    const { out, signal } = context;
    const sandbox = await context.sandbox(given);
    const { 'dry-run': dryRun = false, 'max-bytes': maxBytes } = values;
    if (values.commits) {
      if (paths.length > 0 || values.exclude || values.replace || values.git)
        throw new UsageError('--commits brings commits as they are: without PATH, --exclude, --replace and --git');
      return pullCommits(context, sandbox, { directory, allow: takenPaths(values.take), dryRun });
    }
    const apart = values.git ? [] : await commitsApart(directory);
    const brought = await bring(sandbox, directory, {
      ...choiceOf(paths, { ...values, exclude: [...apart, ...(values.exclude ?? [])] }),
      onConflict: values.replace ? 'replace' : 'keep',
      git: values.git ?? false,
      allow: takenPaths(values.take),
      ...(maxBytes !== undefined && { maxBytes }),
      dryRun,
      signal,
    });
    if (!dryRun) await refreshIndex(directory, { path: context.env.PATH, signal });
    if (out.json) out.value(brought);
    if (apart.length > 0 && (await hasCommitted(sandbox, signal)))
      out.note('left out the commits of the sandbox; --commits brings them as a branch');
    return report(brought, out, { dryRun }) ? EXIT.conflict : 0;
  },
});
