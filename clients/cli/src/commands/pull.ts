import { choiceOf, HOME_OPTIONS, relative } from '../changes.ts';
import { command } from '../command.ts';
import { refreshIndex } from '../commits/refresh-index.ts';
import { EXIT, UsageError } from '../errors.ts';
import { findSandbox } from '../find-sandbox.ts';
import { bring } from '../run/bring.ts';
import { pullCommits } from '../run/pull-commits.ts';
import { report } from '../run/report.ts';
import { commitsApart, hasCommitted } from '../run/settle-commits.ts';
import { bytesOf } from '../sizes.ts';

export default command({
  name: 'pull',
  summary: 'bring the changes of a sandbox to the local directory that it was made from',
  usage: 'SANDBOX [DIR] [PATH...]',
  details: `
What was edited here since the upload, too, is merged line by line if no line was changed on both sides.
Otherwise it is a conflict: it stays as it is here, and the exit code is 1. Left out are changes in .git, what would make
a directory a repository, and, unless it is named, what tools run on sight.

--commits brings what was committed with git in the sandbox instead, as the branch paddock/NAME. Nothing is checked
out. NAME is that of the sandbox, or the beginning of its id.`,
  options: {
    'dry-run': { type: 'boolean', short: 'n', help: 'only say what would be done' },
    replace: { type: 'boolean', help: "the sandbox's version also where it was edited here: that is lost" },
    commits: { type: 'boolean', help: 'no files, but the commits of the sandbox, as a branch of the repository here' },
    ...HOME_OPTIONS,
    exclude: { type: 'string', multiple: true, value: 'GLOB', help: 'not these paths' },
    'max-bytes': {
      type: 'string',
      value: 'SIZE',
      help: 'of contents that may come, like 4g (1g); other files are left out',
    },
  },
  examples: ['paddock pull ID', 'paddock pull ID --commits', 'paddock pull ID . src --dry-run'],
  operands: [1, Number.POSITIVE_INFINITY],
  async run(context, { operands: [id, directory = '.', ...paths], values }) {
    const { out, signal } = context;
    const sandbox = await findSandbox(context, id!);
    const dryRun = values['dry-run'] ?? false;
    if (values.commits) {
      if (paths.length > 0 || values.exclude || values.replace || values.git)
        throw new UsageError('--commits brings commits as they are: without PATH, --exclude, --replace and --git');
      return pullCommits(context, sandbox, { directory, allow: (values.allow ?? []).map(relative), dryRun });
    }
    const apart = values.git ? [] : await commitsApart(directory);
    const brought = await bring(sandbox, directory, {
      ...choiceOf(paths, { ...values, exclude: [...apart, ...(values.exclude ?? [])] }),
      onConflict: values.replace ? 'replace' : 'keep',
      git: values.git ?? false,
      allow: (values.allow ?? []).map(relative),
      ...(values['max-bytes'] && { maxBytes: bytesOf('max-bytes', values['max-bytes']) }),
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
