/** Floods of file requests: the file work of another sandbox beside each, compared with that before it. */
import { at, judged } from '../exec/table.mjs';

const SECONDS = 4;
const MOST = 10;

export const FLOOD_COLUMNS = {
  name: '',
  quiet: 'create, write, read, unlink before it, p50 and p99',
  value: 'during it, p50 and p99',
  ratio: 'ratio of p50 and p99',
  must: 'must reach',
  verdict: 'reached',
};

/** `floods` and `fileWork`: of test/security/file-floods.ts. Returns a row for each flood. */
export async function fileFloods(server, client, floods, fileWork) {
  const rows = [];
  const other = await server.create();
  const exec = (id, command, stdin) => server.call('POST', `/v1/sandboxes/${id}/exec`, { command, stdin, timeout: 60 });
  const work = async () => JSON.parse((await exec(other, 'exec python3 -I -', fileWork(SECONDS))).stdout);
  for (const { name, program } of floods) {
    const quiet = await work();
    const id = await server.create();
    const command = { command: 'exec python3 -I - > ready', stdin: program, timeout: 120 };
    const flood = client.send('POST', `/v1/sandboxes/${id}/exec`, command);
    while (!(await exec(id, 'cat ready 2>/dev/null; true')).stdout.includes('ready')) await wait(50);
    await wait(1000);
    const during = await work();
    await server.call('DELETE', `/v1/sandboxes/${id}?discard=true`);
    await flood;
    rows.push(row(name, quiet, during));
    process.stderr.write(`${name}: done\n`);
  }
  return rows;
}

function row(name, quiet, during) {
  const times = (all) => `${at(all, 0.5).toFixed(1)} ms, ${at(all, 0.99).toFixed(1)} ms`;
  const ratio = (quantile) => at(during, quantile) / at(quiet, quantile);
  return {
    name,
    quiet: times(quiet),
    value: times(during),
    ratio: `${ratio(0.5).toFixed(1)}, ${ratio(0.99).toFixed(1)}`,
    must: `p99 ${MOST} × quiet`,
    verdict: judged(ratio(0.99) <= MOST, false),
  };
}

function wait(ms) {
  return new Promise((done) => setTimeout(done, ms));
}
