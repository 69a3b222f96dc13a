import { define, KEEPALIVE_MS, keptAlive, LISTS, sessionCommand } from './define.ts';
import { afterTimeout } from './input/after-timeout.ts';
import { chunks, KEEPALIVE_CHUNK, unlimitedStream } from './input/exec-chunks.ts';

/** The command was given to the shell when this resolves; it runs at the pace of the reader. */
export const sessionExecStream = define(
  {
    rpc: 'SessionExecStream',
    route: 'POST /v1/sessions/{session_id}/exec/stream',
    kind: 'events',
    access: { role: 'agent', scope: 'exec', on: 'session' },
    retry: 'again',
    counts: ['command', 'stream'],
    maxBody: LISTS,
    example: { body: { command: 'pwd' }, curl: '-N' },
    constraints: sessionCommand,
  },
  async ({ request }, { services, signal }) => {
    if (request.max_output > 0) throw unlimitedStream();
    const { sessions } = services;
    const sandboxId = sessions.placeOf(request.session_id)?.sandbox ?? '';
    const late = { services, sandboxId };
    const { events, outcome } = await sessions.exec(request, signal);
    const output = chunks(events, (error) => afterTimeout(error, late), outcome);
    const ms = services.keepaliveMs ?? KEEPALIVE_MS;
    return request.keepalive ? keptAlive(output, ms, () => KEEPALIVE_CHUNK) : output;
  },
);
