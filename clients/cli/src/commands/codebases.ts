import { command, some } from '../command-line/command.ts';
import { sizeText } from '../output/progress.ts';
import { timeText } from '../output/times.ts';
import { each } from './each.ts';

export const ls = command({
  summary: 'list codebases',
  operands: {},
  options: {
    owner: { value: 'OWNER', help: 'only those of this owner' },
    quiet: { short: 'q', help: 'only the ids' },
  },
  examples: ['paddock codebase ls', 'paddock create --codebase CODEBASE'],
  async run({ out, paddock, signal }, { values: { owner, quiet } }) {
    const { codebases } = await paddock();
    await out.list(codebases.list({ signal, ...(owner && { ownerId: owner }) }), {
      heading: ['CODEBASE', 'NAME', 'OWNER', 'CREATED', 'FILES', 'SIZE'],
      row: (it) => [it.id, it.name, it.ownerId, timeText(it.createdAt), String(it.fileCount), sizeText(it.totalSize)],
      quiet: quiet && (({ id }) => id),
    });
  },
});

export const rm = command({
  summary: 'delete codebases that no sandbox uses',
  operands: { codebases: some('CODEBASE') },
  options: {},
  examples: ['paddock codebase rm CODEBASE'],
  async run(context, { operands }) {
    const { codebases } = await context.paddock();
    await each(context, operands.codebases, async (id) => {
      await codebases.delete(id, context.call);
      return id;
    });
  },
});
