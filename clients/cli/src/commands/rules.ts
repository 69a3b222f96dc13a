import { command, one, some } from '../command-line/command.ts';
import { printableName, printableText, quotedName } from '../output/printable.ts';
import { ruleRow } from '../output/rule-text.ts';
import { refusedText } from '../run/refused-paths.ts';

export const get = command({
  summary: 'list the rules of a sandbox, by priority',
  operands: { sandbox: one('SANDBOX') },
  options: {},
  examples: ['paddock rules get SANDBOX', 'paddock rules get SANDBOX --json > rules.json'],
  async run(context, { operands: { sandbox } }) {
    const { permissions } = (await context.sandbox(sandbox)).info;
    const found = [...permissions].sort((one, other) => other.priority - one.priority);
    await context.out.list(found, { heading: ['LEVEL', 'PATTERN', 'TYPE', 'PRIORITY'], row: ruleRow });
  },
});

/** "." is the root. */
const inWorkspace = (path: string): string => path.replace(/^(\.\/)+/, '').replace(/^\.?$/, '/workspace');

export const explain = command({
  summary: 'say what commands may do at paths, and which rules decide',
  operands: { sandbox: one('SANDBOX'), paths: some('PATH') },
  options: {},
  examples: ['paddock rules explain SANDBOX .env'],
  async run(context, { operands: { sandbox: given, paths } }) {
    const sandbox = await context.sandbox(given);
    const found = await Promise.all(
      paths.map((path) => sandbox.rules.explain(inWorkspace(path), { signal: context.signal })),
    );
    context.out.result(found, () =>
      found
        .map(({ path, permission, reason }) => [quotedName(path), permission, printableName(reason)].join(': '))
        .join('\n'),
    );
  },
});

export const preview = command({
  summary: 'print a file as commands read it, with placeholders for its values',
  details: 'At most 256 KiB. With --json the keys of the values are printed, too; secrets are bound by them.',
  operands: { sandbox: one('SANDBOX'), path: one('PATH') },
  options: {},
  examples: ['paddock rules preview SANDBOX .env'],
  async run(context, { operands: { sandbox, path } }) {
    const { out } = context;
    const found = await (await context.sandbox(sandbox)).rules.preview(inWorkspace(path), context.call);
    const name = quotedName(found.path);
    if (!found.redacted) out.warn(`no rule with "redacted" decides for ${name}; see "paddock rules explain"`);
    else if (found.hidden) out.warn(`all of ${name} is hidden: it is too large, or not of its redactor's format`);
    out.result(found, () => printableText(found.content.replace(/\n$/, '')));
  },
});

export const refused = command({
  summary: 'list the paths at which the rules refused what commands tried, with the rule of each',
  details: 'Since the sandbox was started, the first 256 paths.',
  operands: { sandbox: one('SANDBOX') },
  options: {},
  examples: ['paddock rules refused SANDBOX'],
  async run(context, { operands: { sandbox } }) {
    const found = await (await context.sandbox(sandbox)).refusals(context.call);
    context.out.result(found, () => found.map((each) => refusedText(each)).join('\n'));
  },
});
