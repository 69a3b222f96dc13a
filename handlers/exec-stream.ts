import { ExecMemory } from '../lib/exec-memory.ts';
import { CONTENT, define, execCommand, KEEPALIVE_MS, keptAlive } from './define.ts';
import { afterTimeout } from './input/after-timeout.ts';
import { chunks, KEEPALIVE_CHUNK, unlimitedStream } from './input/exec-chunks.ts';

/**
 * The command has started when this resolves, so that a refusal is sent as a status; it runs at the pace of the reader.
 */
export const execStream = define(
  {
    rpc: 'ExecStream',
    route: 'POST /v1/sandboxes/{sandbox_id}/exec/stream',
    kind: 'events',
    access: { role: 'agent', scope: 'exec', on: 'sandbox' },
    retry: 'again',
    counts: ['command', 'stream'],
    maxBody: CONTENT,
    inExecMemory: true,
    example: { body: { command: 'for i in 1 2 3; do echo $i; done' }, curl: '-N' },
    constraints: execCommand,
  },
  async ({ request }, { services, signal, answered }) => {
    if (request.max_output > 0) throw unlimitedStream();
    const memory = new ExecMemory(services.limits?.execMemory, request.sandbox_id);
    answered?.(() => memory.release());
    try {
      memory.holdInput(request.stdin.length + request.stdin_bytes.length);
      const late = { services, sandboxId: request.sandbox_id };
      const output = chunks(await services.sandboxes.exec(request, signal), (error) => afterTimeout(error, late));
      const ms = services.keepaliveMs ?? KEEPALIVE_MS;
      return request.keepalive ? keptAlive(output, ms, () => KEEPALIVE_CHUNK) : output;
    } finally {
      if (!answered) memory.release();
    }
  },
);
