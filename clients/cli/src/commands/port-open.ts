import { command } from '../command.ts';
import { durationOf } from '../exec/durations.ts';
import { findSandbox } from '../find-sandbox.ts';
import { portOf } from '../forward/ports.ts';

export default command({
  name: 'port open',
  summary: 'open a port of a sandbox through the server, and print its URL',
  usage: 'SANDBOX PORT',
  details: `Callers with a key that may run commands in the sandbox reach it; with --link everybody who has the URL.
A port that is open already is replaced: its URL with a token and its connections end.`,
  options: {
    link: { type: 'boolean', help: 'a URL with a token, for everybody who has it' },
    'expires-in': { type: 'string', value: 'TIME', help: 'close it after this time, like 30m (default: never)' },
  },
  examples: ['paddock port open SANDBOX 3000', 'paddock port open SANDBOX 3000 --link --expires-in 1h'],
  operands: [2, 2],
  async run(context, { operands: [id, given], values }) {
    const port = portOf(given!);
    const until = values['expires-in'];
    const expiresIn = until === undefined ? undefined : durationOf('expires-in', until);
    const sandbox = await findSandbox(context, id!);
    const access = values.link ? 'link' : 'key';
    const opened = await sandbox.ports.open(port, { access, expiresIn, signal: context.signal });
    context.out.result(opened, () => opened.link);
    return 0;
  },
});
