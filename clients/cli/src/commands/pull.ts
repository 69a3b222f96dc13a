import { choiceOf, HOME_OPTIONS, relative } from '../changes.ts';
import { command } from '../command.ts';
import { EXIT } from '../errors.ts';
import { findSandbox } from '../find-sandbox.ts';
import { bring } from '../run/bring.ts';
import { report } from '../run/report.ts';

export default command({
  name: 'pull',
  summary: 'bring the changes of a sandbox to the local directory that it was made from',
  usage: 'SANDBOX [DIR] [PATH...]',
  details: `
What was edited here since the upload, too, is merged line by line if no line was changed on both sides.
Otherwise it is a conflict: it stays as it is here, and the exit code is 1. Left out are changes in .git, what would make
a directory a repository, and, unless it is named, what tools run on sight.`,
  options: {
    'dry-run': { type: 'boolean', short: 'n', help: 'only say what would be done' },
    replace: { type: 'boolean', help: "the sandbox's version also where it was edited here: that is lost" },
    ...HOME_OPTIONS,
    exclude: { type: 'string', multiple: true, value: 'GLOB', help: 'not these paths' },
  },
  examples: ['paddock pull ID', 'paddock pull ID . src --dry-run'],
  operands: [1, Number.POSITIVE_INFINITY],
  async run(context, { operands: [id, directory = '.', ...paths], values }) {
    const { out, signal } = context;
    const sandbox = await findSandbox(context, id!);
    const dryRun = values['dry-run'] ?? false;
    const brought = await bring(sandbox, directory, {
      ...choiceOf(paths, values),
      onConflict: values.replace ? 'replace' : 'keep',
      git: values.git ?? false,
      allow: (values.allow ?? []).map(relative),
      dryRun,
      signal,
    });
    if (out.json) out.value(brought);
    return report(brought, out, { dryRun }) ? EXIT.conflict : 0;
  },
});
