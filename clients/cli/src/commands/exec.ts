import type { Paddock, Process } from 'paddock-sandbox';
import { type Context, command, one, type Values } from '../command-line/command.ts';
import { UsageError } from '../command-line/errors.ts';
import { follow } from '../exec/follow.ts';
import { startIn } from '../exec/start.ts';
import { refOf } from '../names/processes.ts';
import { sandboxIdOf, sandboxOf } from '../names/sandboxes.ts';
import { wholeSecondsOf } from '../options/durations.ts';
import { environmentOf } from '../options/environment.ts';
import { labelsOf } from '../options/labels.ts';
import { refusalsIn, refusedByRules, refusedSince } from '../run/refused-paths.ts';
import { DETACH_KEYS, DETACH_OPTION } from '../terminal/detach-keys.ts';
import { terminalSize } from '../terminal/local-terminal.ts';

const OPTIONS = {
  interactive: { short: 'i', help: 'send standard input' },
  tty: { short: 't', help: 'give the command a terminal' },
  detach: { short: 'd', help: 'leave it running, and print its name' },
  env: { short: 'e', multiple: true, value: 'NAME[=VALUE]', help: 'a variable' },
  'env-file': { multiple: true, value: 'FILE', help: 'variables, one a line' },
  workdir: { short: 'w', value: 'DIR', help: 'working directory; relative to /workspace' },
  timeout: { value: 'TIME', read: wholeSecondsOf, help: 'kill it after this time, like 30s or 5m; exit code 124' },
  name: { value: 'ID', help: 'id of the process, unique in the sandbox' },
  label: { short: 'l', multiple: true, value: 'KEY=VALUE', help: 'a label of the process' },
  'detach-keys': DETACH_OPTION,
} as const;

export const exec = command({
  summary: 'run a command in a sandbox',
  details: `The exit code is that of the command; 126: it cannot be run; 127: it was not found; 125: paddock failed.
Signals go to the command. A shell is used only if it is named: paddock exec SANDBOX sh -c 'a | b'.`,
  operands: { sandbox: one('SANDBOX') },
  options: OPTIONS,
  examples: [
    'paddock exec SANDBOX npm test',
    'paddock exec -it SANDBOX bash',
    'pg_dump db | paddock exec -i SANDBOX psql',
    'paddock exec -d --name web SANDBOX npm start; paddock logs -f web',
  ],
  runs: true,
  async run(context, { values, operands, rest }) {
    if (rest.length === 0) throw new UsageError('exec needs a command');
    const { interactive = false, tty = false, detach = false, 'detach-keys': detachKeys = DETACH_KEYS } = values;
    const options = startOptions(context, values);
    if (interactive && tty && !detach) {
      const { requireTerminal } = await import('../terminal/interact.ts');
      requireTerminal();
    }
    const paddock = await context.paddock();
    const sandboxId = await sandboxIdOf(paddock, operands.sandbox, context);
    // Beside the start, which does not wait for it.
    const before = detach ? undefined : refusalsIn(paddock, sandboxId);
    const target = await startIn(paddock, sandboxId, rest, options, context);
    if (detach) {
      return context.out.result({ sandboxId, processId: target.id }, () => refOf(target));
    }
    const exitCode = await ended(context, paddock, target, { tty, interactive, detachKeys });
    // Only a failure may be one of the rules: what succeeds waits for nothing.
    if (exitCode !== 0) {
      const refused = refusedByRules(
        refusedSince((await before) ?? [], await refusalsIn(paddock, sandboxId)),
        sandboxId,
      );
      if (refused !== '') context.out.note(refused);
    }
    return exitCode;
  },
});

interface Shown {
  tty: boolean;
  interactive: boolean;
  detachKeys: readonly number[];
}

/** Shows the process to its end. */
async function ended(context: Context, paddock: Paddock, target: Process, { tty, interactive, detachKeys }: Shown) {
  if (tty) {
    const { interact } = await import('../terminal/interact.ts');
    return interact(context, target, { offset: 0, input: interactive, detachKeys });
  }
  return follow(context, paddock, target, { offset: 0, inputOffset: interactive ? 0 : undefined, forward: true });
}

function startOptions({ env }: Context, values: Values<typeof OPTIONS>) {
  return {
    env: environmentOf(values.env ?? [], values['env-file'] ?? [], env),
    workdir: values.workdir,
    timeout: values.timeout,
    labels: labelsOf(values.label),
    id: values.name,
    stdin: values.interactive,
    terminal: values.tty ? terminalSize() : undefined,
  };
}

const BEST = 'command -v bash >/dev/null 2>&1 && exec bash; exec sh';

export const sh = command({
  summary: 'a shell in a sandbox, with a terminal',
  operands: { sandbox: one('SANDBOX') },
  details: 'The shell of the sandbox, or bash, or sh.',
  options: {
    env: OPTIONS.env,
    workdir: OPTIONS.workdir,
    'detach-keys': DETACH_OPTION,
  },
  examples: ['paddock sh SANDBOX'],
  async run(context, { values, operands }) {
    const { interact, requireTerminal } = await import('../terminal/interact.ts');
    requireTerminal();
    const env = environmentOf(values.env ?? [], [], context.env);
    const paddock = await context.paddock();
    const { id, info } = await sandboxOf(paddock, operands.sandbox, context);
    const argv = info.shell ? [info.shell] : ['/bin/sh', '-c', BEST];
    const options = { env, workdir: values.workdir, stdin: true, terminal: terminalSize() };
    const target = await startIn(paddock, id, argv, options, context);
    return interact(context, target, { offset: 0, input: true, detachKeys: values['detach-keys'] ?? DETACH_KEYS });
  },
});
