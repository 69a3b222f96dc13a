import { command } from '../command.ts';
import { follow } from '../exec/follow.ts';
import { attachableOf } from '../process-ref.ts';
import { DEFAULT_KEYS, keysOf } from '../terminal/detach-keys.ts';

export default command({
  name: 'attach',
  summary: 'connect to a running process: its output, and its input',
  usage: 'PROCESS|SANDBOX',
  details: `A sandbox stands for the one process that runs in it. Of a terminal, all output that is kept is shown first, so that
the screen is complete. Attaching takes over the keyboard. ${DEFAULT_KEYS} leaves a terminal.`,
  options: {
    'no-stdin': { type: 'boolean', help: 'only watch' },
    'detach-keys': { type: 'string', value: 'KEYS', help: `keys that leave it running (default: ${DEFAULT_KEYS})` },
  },
  examples: ['paddock attach SANDBOX', 'paddock attach SANDBOX/web', 'paddock attach --no-stdin p-3f'],
  operands: [1, 1],
  async run(context, { values, operands }) {
    const detachKeys = keysOf(values['detach-keys'] ?? DEFAULT_KEYS);
    const paddock = await context.paddock();
    const target = await attachableOf(paddock, operands[0]!, context);
    const { terminal, stdinOpen, outputFirst, outputNext, inputNext, end } = await target.info(context);
    const input = !values['no-stdin'] && stdinOpen && end === undefined;
    if (terminal) {
      const { interact, requireTerminal } = await import('../terminal/interact.ts');
      if (input) requireTerminal();
      return interact(context, target, { offset: outputFirst, input, detachKeys });
    }
    const inputOffset = input ? inputNext : undefined;
    return follow(context, paddock, target, { offset: outputNext, inputOffset, forward: true });
  },
});
