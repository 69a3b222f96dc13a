import { command } from '../command-line/command.ts';
import type { Check } from '../doctor/check.ts';
import { thisHost } from '../doctor/host.ts';
import { hostChecks } from '../doctor/host-checks.ts';
import { serverChecks } from '../doctor/server-checks.ts';
import { toolsCheck } from '../doctor/tools-check.ts';
import type { Output } from '../output/output.ts';
import { printableName } from '../output/printable.ts';

export const doctor = command({
  summary: 'check what a server on this machine can enforce, and what to install',
  details:
    'Looks, and changes nothing. The exit code is 1 if something is missing that a server on this machine needs.',
  operands: {},
  options: {},
  examples: ['paddock doctor', 'paddock doctor --json'],
  async run({ out, env, paddock }) {
    const checks = [...(await hostChecks(thisHost())), toolsCheck(env), ...(await serverChecks(paddock))];
    const ok = !checks.some(({ required, state }) => required && state === 'missing');
    if (out.json) out.value({ ok, checks });
    else for (const check of checks) show(check, out);
    return ok ? 0 : 1;
  },
});

function show({ name, state, detail, fix }: Check, out: Output): void {
  const colour = { ok: out.paint.green, limited: out.paint.yellow, missing: out.paint.red }[state];
  out.line(`${colour(state.padEnd(8))} ${name.padEnd(16)} ${printableName(detail)}`);
  if (fix && state !== 'ok') out.line(`${' '.repeat(26)}${printableName(fix)}`);
}
