/** Measures the creation of containers one by one. The servers alternate. */
import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

const WARM_UP = 2;
/** Milliseconds between rounds: what a server prepares while it is idle is prepared then. */
const PAUSE_MS = 2000;
const MOST = 0.25;

/** `servers`: by a description, the one with ready containers first. Prints a table; whether the target is reached. */
export async function creations(servers, rounds) {
  const agent = new Agent({ keepAlive: true });
  /** @type {Record<string, Record<string, number[]>>} */
  const times = {};
  /** @type {Record<string, string>} */
  const codebases = {};
  for (const [name, server] of Object.entries(servers)) {
    codebases[name] = (await server.call('POST', '/v1/codebases', { name: 'bench', owner_id: 'bench' })).id;
    times[name] = { create: [], 'create and first Exec': [], destroy: [] };
  }
  for (let round = -WARM_UP; round < rounds; round++) {
    for (const [name, server] of Object.entries(servers)) {
      await delay(PAUSE_MS);
      const began = performance.now();
      const { id } = await server.call('POST', '/v1/sandboxes', { codebase_id: codebases[name] }, agent);
      const created = performance.now();
      await server.call('POST', `/v1/sandboxes/${id}/exec`, { command: 'true' }, agent);
      const answered = performance.now();
      await server.call('DELETE', `/v1/sandboxes/${id}`, undefined, agent);
      if (round < 0) continue;
      times[name].create.push(created - began);
      times[name]['create and first Exec'].push(answered - began);
      times[name].destroy.push(performance.now() - answered);
    }
  }
  agent.destroy();
  process.stdout.write(`\n${rounds} creations each, in ms\n\n| | p50 | p90 |\n|---|---|---|\n`);
  for (const [name, each] of Object.entries(times)) {
    for (const [what, all] of Object.entries(each)) {
      process.stdout.write(`| ${name}: ${what} | ${at(all, 0.5).toFixed(1)} | ${at(all, 0.9).toFixed(1)} |\n`);
    }
  }
  const [ready, plain] = Object.values(times).map(({ create }) => at(create ?? [], 0.5));
  return ready !== undefined && plain !== undefined && ready <= MOST * plain;
}

function at(all, share) {
  const sorted = [...all].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
