import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { median } from '../exec/table.mjs';

const SITE = join(import.meta.dirname, 'site.py');
/** Of the server in the sandbox, and of the same one beside it. */
const PORT = 7002;
const IN_FLIGHT = 8;

/**
 * A web server in a sandbox through its opened port, alternated with the same server beside it: MiB/s of one download, requests a
 * second, and the median of a request in milliseconds, each as [through the port, direct].
 */
export async function previews(service, base, sandboxId, { rounds, mebibytes, requests }) {
  const path = `/v1/sandboxes/${sandboxId}`;
  const argv = ['python3', '-c', readFileSync(SITE, 'utf8'), String(PORT)];
  await service.call('POST', `${path}/processes`, { process_id: 'site', argv });
  await service.call('GET', `${path}/ports?port=${PORT}&wait=20000`);
  const { url } = await service.call('POST', `${path}/ports`, { port: PORT });
  const beside = spawn('python3', [SITE, String(PORT)], { stdio: 'ignore' });
  const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT });
  const sites = [new URL(url, base).href, `http://127.0.0.1:${PORT}/`];
  try {
    await listening(sites[1]);
    /** @type {Record<string, [number[], number[]]>} */
    const all = { down: [[], []], many: [[], []], one: [[], []] };
    for (let round = 0; round < rounds; round++) {
      for (const [at, site] of sites.entries()) {
        const began = performance.now();
        await received(`${site}large/${mebibytes}`, agent);
        all.down[at].push((mebibytes * 1000) / (performance.now() - began));
        all.many[at].push(await perSecond(site, requests, agent));
        all.one[at].push(await latency(site, requests / 4, agent));
      }
    }
    return Object.fromEntries(Object.entries(all).map(([name, values]) => [name, values.map(median)]));
  } finally {
    agent.destroy();
    beside.kill('SIGKILL');
  }
}

async function listening(site) {
  for (const end = Date.now() + 20_000; ; await delay(20)) {
    try {
      return await received(site, new Agent());
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}

/** @returns {Promise<void>} */
function received(url, agent) {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (answer) => {
      if (answer.statusCode !== 200) reject(new Error(`${url} answers ${answer.statusCode}`));
      answer
        .on('data', () => undefined)
        .on('end', resolve)
        .on('error', reject);
    }).on('error', reject);
  });
}

async function perSecond(site, requests, agent) {
  const began = performance.now();
  let left = requests;
  const ask = async () => {
    while (left-- > 0) await received(site, agent);
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, ask));
  return (requests * 1000) / (performance.now() - began);
}

async function latency(site, requests, agent) {
  const times = [];
  for (let count = 0; count < requests; count++) {
    const began = performance.now();
    await received(site, agent);
    times.push(performance.now() - began);
  }
  return median(times);
}
