import type { Sandbox } from '../../../typescript/src/contract/messages.ts';
import { command } from '../command.ts';
import { statusText, timeText } from '../status.ts';

export default command({
  name: 'ls',
  summary: 'list sandboxes',
  usage: '',
  options: { quiet: { type: 'boolean', short: 'q', help: 'only the ids' } },
  examples: ['paddock ls', 'paddock rm $(paddock ls -q)'],
  operands: [0, 0],
  async run({ out, paddock, signal }, { values }) {
    const found: Sandbox[] = [];
    for await (const each of (await paddock()).sandboxes.list({ signal })) found.push(each);
    const rows = found.map((each) => [each.id, statusText(each), timeText(each.createdAt), each.codebaseId]);
    if (out.json) out.value(found);
    else if (values.quiet) for (const { id } of found) out.line(id);
    else out.table(['SANDBOX', 'STATUS', 'CREATED', 'CODEBASE'], rows);
    return 0;
  },
});
