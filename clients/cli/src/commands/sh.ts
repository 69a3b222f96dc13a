import { command } from '../command.ts';
import { environmentOf } from '../exec/environment-of.ts';
import { startIn } from '../exec/start.ts';
import { sandboxOf } from '../resolve.ts';
import { DEFAULT_KEYS, keysOf } from '../terminal/detach-keys.ts';
import { interact, requireTerminal } from '../terminal/interact.ts';
import { terminalSize } from '../terminal/local-terminal.ts';

const BEST = 'command -v bash >/dev/null 2>&1 && exec bash; exec sh';

export default command({
  name: 'sh',
  summary: 'a shell in a sandbox, with a terminal',
  usage: 'SANDBOX',
  details: 'The shell of the sandbox, or bash, or sh.',
  options: {
    env: { type: 'string', short: 'e', multiple: true, value: 'NAME[=VALUE]', help: 'a variable' },
    workdir: { type: 'string', short: 'w', value: 'DIR', help: 'working directory; relative to /workspace' },
    'detach-keys': { type: 'string', value: 'KEYS', help: `keys that leave it running (default: ${DEFAULT_KEYS})` },
  },
  examples: ['paddock sh SANDBOX'],
  operands: [1, 1],
  async run(context, { values, operands }) {
    requireTerminal();
    const detachKeys = keysOf(values['detach-keys'] ?? DEFAULT_KEYS);
    const env = environmentOf(values.env ?? [], [], context.env);
    const paddock = await context.paddock();
    const { id, info } = await sandboxOf(paddock, operands[0]!, context);
    const argv = info.shell ? [info.shell] : ['/bin/sh', '-c', BEST];
    const options = { env, workdir: values.workdir, stdin: true, terminal: terminalSize() };
    const target = await startIn(paddock, id, argv, options, context);
    return interact(context, target, { offset: 0, input: true, detachKeys });
  },
});
