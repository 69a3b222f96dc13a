import { Paddock } from '../../../typescript/src/paddock.ts';
import { type Context, command } from '../command.ts';
import { bashScript } from '../completion/bash.ts';
import { fishScript } from '../completion/fish.ts';
import { completedOf } from '../completion/model.ts';
import { zshScript } from '../completion/zsh.ts';
import { UsageError } from '../errors.ts';
import { processesOf } from '../process-ref.ts';
import { listed, NAME_LABEL } from '../resolve.ts';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };
/** A shell that waits for a word must not wait for long. */
const ANSWER_MS = 3000;
/** Nothing that a shell could read as something else. */
const PLAIN = /^[A-Za-z0-9][\w.-]*(\/[\w.-]+)?$/;

export default command({
  name: 'completion',
  summary: 'print a script for the completion of a shell',
  usage: 'bash|zsh|fish',
  details: `The script asks the server for ids by "paddock completion sandboxes" and "paddock completion processes".`,
  options: {},
  examples: [
    'source <(paddock completion bash)',
    'source <(paddock completion zsh)',
    'paddock completion fish | source',
  ],
  operands: [1, 1],
  async run(context, { operands: [what = ''] }) {
    if (Object.hasOwn(SCRIPTS, what)) {
      const script = SCRIPTS[what as keyof typeof SCRIPTS];
      context.out.bytes(script(completedOf(await context.commands())));
    } else if (what === 'sandboxes' || what === 'processes') {
      for (const id of await ids(context, what).catch(() => [])) if (PLAIN.test(id)) context.out.line(id);
    } else throw new UsageError(`completion is for bash, zsh or fish, not ${JSON.stringify(what)}`);
    return 0;
  },
});

/** No server is started for it. */
async function ids({ paddock: connect }: Context, what: 'sandboxes' | 'processes'): Promise<string[]> {
  const paddock = new Paddock({ ...(await connect()).api.settings, maxRetries: 0 });
  const signal = AbortSignal.timeout(ANSWER_MS);
  const found: string[] = [];
  for await (const { id, labels } of listed(paddock, { signal })) {
    if (what === 'sandboxes') found.push(id, ...(labels[NAME_LABEL] ? [labels[NAME_LABEL]] : []));
    else {
      const running = await processesOf(paddock, id, { signal, running: true });
      found.push(...running.map(({ processId }) => `${id}/${processId}`));
    }
  }
  return found;
}
