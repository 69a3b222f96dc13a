import { DEFAULT_OUTPUT_BYTES } from '../lib/command-limits.ts';
import { ExecMemory } from '../lib/exec-memory.ts';
import type { KeptOutput, YieldedExec } from '../lib/process-services.ts';
import { CONTENT, define, execCommand } from './define.ts';
import { afterTimeout } from './input/after-timeout.ts';
import { ExecOutput } from './input/exec-output.ts';
import { collect, type ExecResult, NOT_GOING_ON } from './input/exec-result.ts';

/** Milliseconds; a call that waits longer is likely to be cut off on its way. */
const MAX_YIELD_MS = 600_000;

/** Runs a command to its end. After a timeout, the output so far is in the details of the error. */
export const exec = define(
  {
    rpc: 'Exec',
    route: 'POST /v1/sandboxes/{sandbox_id}/exec',
    access: { role: 'agent', scope: 'exec', on: 'sandbox' },
    retry: 'again',
    counts: ['command'],
    maxBody: CONTENT,
    inExecMemory: true,
    example: { body: { command: 'ls -l', timeout: 10 } },
    constraints: { ...execCommand, yield_after: { minimum: 0, maximum: MAX_YIELD_MS, unit: 'milliseconds' } },
  },
  async ({ request }, { services, signal, guard, answered, answerBytes }): Promise<ExecResult> => {
    const { limits } = services;
    const memory = new ExecMemory(limits?.execMemory, request.sandbox_id);
    answered?.(() => memory.release());
    try {
      memory.holdInput(request.stdin.length + request.stdin_bytes.length);
      const output = new ExecOutput(
        request,
        { stream: limits?.execOutputBytes ?? DEFAULT_OUTPUT_BYTES, answer: answerBytes },
        memory,
      );
      if (request.yield_after > 0) {
        const take = (kept: KeptOutput) => appendKept(output, kept);
        const yielded = await services.processes.execOrYield(request, signal, () => guard.keepCommand(), take);
        return resultOfYielded(yielded, output);
      }
      const late = { services, sandboxId: request.sandbox_id };
      const execution = await services.sandboxes.exec(request, signal);
      return await collect(execution, output, (error, partial) => afterTimeout(error, late, partial));
    } finally {
      // Held until the response is sent, if the adapter reports that.
      if (!answered) memory.release();
    }
  },
);

function appendKept(output: ExecOutput, { stream, data, missing }: KeptOutput): void {
  if (missing > 0) output.skip(stream, missing);
  if (data !== undefined) output.append(stream, data);
}

/** The output so far of a command that has ended, or goes on as a process. */
function resultOfYielded({ processId, end }: YieldedExec, output: ExecOutput): ExecResult {
  const result = { ...output.fields(), ...NOT_GOING_ON };
  if (end === undefined) {
    return { ...result, exit_code: 0, duration_ms: 0, end_reason: '', running: true, process_id: processId };
  }
  const { exit_code, duration_ms, reason: end_reason, denied } = end;
  return { ...result, exit_code, duration_ms, end_reason, denied_hosts: denied?.hosts ?? [] };
}
