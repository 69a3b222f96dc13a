import { CommandTimeoutError } from 'paddock-sandbox';
import { command, one } from '../command-line/command.ts';
import { CliError } from '../command-line/errors.ts';
import { forwardOpened } from '../forward/opened.ts';
import { portOf, portsOf } from '../forward/ports.ts';
import { sandboxIdOf } from '../names/sandboxes.ts';
import { durationOf, wholeSecondsOf } from '../options/durations.ts';
import { timeText } from '../output/times.ts';

export const forward = command({
  summary: 'reach a port of a sandbox at a port of this machine',
  details: `Listens on 127.0.0.1 until ^C. Connections of any protocol go to the program that listens in the sandbox, also on
its loopback interface. Unless the port is open already, it is opened meanwhile, for callers with a key.`,
  operands: { sandbox: one('SANDBOX'), ports: one('PORT[:LOCAL-PORT]') },
  options: {},
  examples: ['paddock port forward SANDBOX 3000', 'paddock port forward SANDBOX 5432:15432'],
  async run(context, { operands }) {
    const ports = portsOf(operands.ports);
    const paddock = await context.paddock();
    const sandboxId = await sandboxIdOf(paddock, operands.sandbox, context);
    await forwardOpened(paddock, { sandboxId, ...ports }, context);
  },
});

export const open = command({
  summary: 'open a port of a sandbox through the server, and print its URL',
  details: `It is for callers whose key may run commands in the sandbox; with --link, for everybody who has the URL.
If the port is open already, its connections end and its URL with a token is no longer valid.`,
  operands: { sandbox: one('SANDBOX'), port: one('PORT') },
  options: {
    link: { help: 'a URL with a token, for everybody who has it' },
    'expires-in': { value: 'TIME', read: wholeSecondsOf, help: 'close it after this time, like 30m (default: never)' },
  },
  examples: ['paddock port open SANDBOX 3000', 'paddock port open SANDBOX 3000 --link --expires-in 1h'],
  async run(context, { operands, values }) {
    const port = portOf(operands.port);
    const { ports } = await context.sandbox(operands.sandbox);
    const access = values.link ? 'link' : 'key';
    const opened = await ports.open(port, { access, expiresIn: values['expires-in'], signal: context.signal });
    context.out.result(opened, () => opened.link);
  },
});

export const ls = command({
  summary: 'list the opened ports of a sandbox, with their URLs',
  operands: { sandbox: one('SANDBOX') },
  options: {},
  examples: ['paddock port ls SANDBOX'],
  async run(context, { operands: { sandbox } }) {
    const found = await (await context.sandbox(sandbox)).ports.opened(context.call);
    await context.out.list(found, {
      heading: ['PORT', 'ACCESS', 'UNTIL', 'URL'],
      row: ({ port, access, expiresAt, url }) => [String(port), access, timeText(expiresAt), url],
    });
  },
});

export const close = command({
  summary: 'close a port of a sandbox: its URL and its connections end',
  operands: { sandbox: one('SANDBOX'), port: one('PORT') },
  options: {},
  examples: ['paddock port close SANDBOX 3000'],
  async run(context, { operands }) {
    const port = portOf(operands.port);
    await (await context.sandbox(operands.sandbox)).ports.close(port, context.call);
    context.out.result({ port }, () => `port ${port} is closed`);
  },
});

export const wait = command({
  summary: 'wait until a program of a sandbox listens on a port, and print the address',
  details: 'The exit code is 1 if nothing listens there in time.',
  operands: { sandbox: one('SANDBOX'), port: one('PORT') },
  options: { timeout: { value: 'TIME', read: durationOf, help: 'how long to wait (default: 60s)' } },
  examples: ['paddock exec -d SANDBOX npm start && paddock port wait SANDBOX 3000'],
  async run(context, { values: { timeout = '60s' }, operands }) {
    const port = portOf(operands.port);
    const { ports } = await context.sandbox(operands.sandbox);
    const found = await ports.wait(port, { timeout, signal: context.signal }).catch((error) => {
      throw error instanceof CommandTimeoutError ? new CliError(error.message, { cause: error }) : error;
    });
    context.out.result(found, () => `${found.address}:${found.port}`);
  },
});
