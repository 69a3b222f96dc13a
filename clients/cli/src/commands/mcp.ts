import { createInterface } from 'node:readline';
import type { Sandbox } from 'paddock-sandbox';
import { type Context, command, type Values } from '../command-line/command.ts';
import { sentenceOf, UsageError } from '../command-line/errors.ts';
import { Bridge } from '../mcp/bridge.ts';
import { packOptionsOf, SANDBOX_OPTIONS, sandboxOptionsOf, UPLOAD_OPTIONS } from '../options/sandbox.ts';
import { withProject } from '../settings/with-project.ts';
import { TOOLS_OPTION, wishesOf } from '../tools/options.ts';
import { createFrom, destroyOwned } from '../uploads/new-sandbox.ts';

/** For the end of a session, also after a signal. */
const CLEAN_UP_MS = 20_000;

const NEW = { ...TOOLS_OPTION, ...SANDBOX_OPTIONS, ...UPLOAD_OPTIONS };

export const mcp = command({
  summary: 'serve the tools of a sandbox to an MCP client at standard input and output',
  details: `With --from the files of the directory are copied into a new sandbox. When the client leaves, a sandbox without changes
is removed. One with changes is stopped, and the command says how to see and take them.`,
  operands: {},
  options: {
    sandbox: { value: 'SANDBOX', help: 'a sandbox that exists' },
    from: { value: 'DIR', help: 'instead: a new sandbox with the files of a local directory' },
    ...NEW,
  },
  examples: ['claude mcp add paddock -- paddock mcp --from .', 'paddock mcp --sandbox sb_1'],
  async run(context, { values }) {
    const { sandbox: given, from } = values;
    if ((given === undefined) === (from === undefined))
      throw new UsageError('mcp needs --sandbox or --from, and not both');
    const { out, signal } = context;
    // Read from the beginning: the client may not wait for the sandbox.
    const lines = linesOf(signal);
    const sandbox = from === undefined ? await context.sandbox(given!) : await newSandbox(context, from, values);
    const { url, key } = sandbox.api.settings;
    const bridge = new Bridge({ url: `${url}/v1/sandboxes/${encodeURIComponent(sandbox.id)}/mcp`, key }, (message) =>
      out.bytes(`${JSON.stringify(message)}\n`),
    );
    try {
      for await (const line of lines) bridge.take(line);
      signal.throwIfAborted();
    } finally {
      await end(context, { bridge, sandbox, isNew: from !== undefined });
    }
  },
});

async function newSandbox(context: Context, from: string, given: Values<typeof NEW>): Promise<Sandbox> {
  const values = await withProject(context, given, from);
  const { out, env, signal } = context;
  const paddock = await context.paddock({ start: true });
  const options = sandboxOptionsOf(values, env);
  const asked = wishesOf(context, paddock, options, { tools: values.tools, byDefault: 'auto', from });
  return createFrom({ paddock, out, signal, env }, { directory: from, pack: packOptionsOf(values), options, asked });
}

/** The lines of standard input until its end, a signal, or the end of the reader of standard output. */
function linesOf(signal: AbortSignal): AsyncIterable<string> {
  const lines = createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY });
  signal.addEventListener('abort', () => lines.close(), { once: true });
  // In place of the default, which ends this program at once, without an end of what runs.
  process.stdout.removeAllListeners('error').on('error', () => lines.close());
  // Keeps the lines that arrive before they are asked for.
  return {
    [Symbol.asyncIterator]: (
      (iterator) => () =>
        iterator
    )(lines[Symbol.asyncIterator]()),
  };
}

interface Session {
  bridge: Bridge;
  sandbox: Sandbox;
  isNew: boolean;
}

/** Ends what runs. A failure is told, and does not hide the reason of the end. */
async function end({ out }: Context, { bridge, sandbox, isNew }: Session): Promise<void> {
  const limit = { signal: AbortSignal.timeout(CLEAN_UP_MS) };
  try {
    await bridge.close();
    if (!isNew) {
      const ends = [...bridge.processes].map((processId) =>
        sandbox.api.deleteProcess({ sandboxId: sandbox.id, processId }, limit).catch(() => undefined),
      );
      await Promise.all(ends);
      return;
    }
    await sandbox.stop(limit);
    const changes = await sandbox.changes(limit);
    if (changes.length === 0) {
      await destroyOwned(sandbox, limit);
      return;
    }
    out.note(`${changes.length} changes are in the sandbox ${sandbox.id}, which is stopped:`);
    out.note(`  paddock diff ${sandbox.id}      shows them`);
    out.note(`  paddock pull ${sandbox.id}      brings them to the directory`);
    out.note(`  paddock commit ${sandbox.id}    puts them into its codebase`);
    out.note(`  paddock rm ${sandbox.id}        drops them`);
  } catch (error) {
    out.note(`paddock: the sandbox ${sandbox.id} could not be ended: ${sentenceOf(error)}`);
  }
}
