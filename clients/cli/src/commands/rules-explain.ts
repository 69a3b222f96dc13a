import { command } from '../command.ts';
import { findSandbox } from '../find-sandbox.ts';
import { printableName, quotedName } from '../printable.ts';

export default command({
  name: 'rules explain',
  summary: 'say what commands may do at paths, and which rules decide',
  usage: 'SANDBOX PATH...',
  options: {},
  examples: ['paddock rules explain ID .env'],
  operands: [2, Number.POSITIVE_INFINITY],
  async run(context, { operands: [id, ...paths] }) {
    const { out, signal } = context;
    const sandbox = await findSandbox(context, id!);
    const found = await Promise.all(
      paths.map((path) => sandbox.explain(path.replace(/^(\/workspace\/|(\.\/)+)/, ''), { signal })),
    );
    out.result(found, () =>
      found.map((each) => `${quotedName(each.path)}: ${each.permission}: ${printableName(each.reason)}`).join('\n'),
    );
    return 0;
  },
});
