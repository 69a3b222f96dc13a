/**
 * Compares codebases as immutable trees with those of plain directories, by turns on the same disk: a creation, uploads of 1 KiB one
 * after the other and at once, an import of 10,000 files of 1 KiB and meanwhile requests for another codebase, a list of them page by
 * page, a download of one and of all. Nothing is to be reached: the numbers are for the decision which format is the default.
 */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Probe } from '../changes/probe.mjs';
import { Server } from '../exec/server.mjs';
import { median } from '../exec/table.mjs';
import { alternate } from '../processes/alternate.mjs';

const FILES = 10_000;
const UPLOADS = 50;
const PAGE = 1000;

export async function formats(_server, _plain, rounds) {
  const servers = {};
  const directories = [];
  try {
    for (const codebase_format of ['plain', 'tree']) {
      directories.push(mkdtempSync(join(tmpdir(), `paddock-bench-${codebase_format}-`)));
      const runtime = { type: 'mock', ready: 0 };
      servers[codebase_format] = await Server.start(directories.at(-1), {}, runtime, { codebase_format });
    }
    const archive = packed();
    const ways = Object.fromEntries(
      Object.entries(servers).map(([name, server]) => [name, () => measured(server, archive)]),
    );
    const { plain, tree } = await alternate(ways, rounds, 1);
    const rows = Object.keys(tree[0]).map((name) => rowOf(name, plain, tree));
    return { title: `Codebases as trees beside plain directories, ${rounds} times by turns`, rows };
  } finally {
    for (const server of Object.values(servers)) await server.stop();
    for (const directory of directories) rmSync(directory, { recursive: true });
  }
}

function rowOf(name, plain, tree) {
  const [before, now] = [plain, tree].map((each) => median(each.map((round) => round[name])));
  const shown = (ms) => `${ms.toFixed(2)} ms`;
  return { name, value: shown(now), beside: `${shown(before)}: ratio ${(now / before).toFixed(2)}` };
}

/** Milliseconds of each step on a new codebase. */
async function measured(server, archive) {
  const taken = {};
  const timed = async (name, task, count = 1) => {
    const began = performance.now();
    const answer = await task();
    taken[name] = (performance.now() - began) / count;
    return answer;
  };
  const create = () => server.call('POST', '/v1/codebases', { name: 'bench', owner_id: 'bench' });
  const other = await create();
  const { id } = await timed('create', create);
  const files = `/v1/codebases/${id}/files`;
  const upload = (path) => send(server, 'PUT', `${files}/${path}`, Buffer.alloc(1024, path));
  await upload('first');
  await timed(
    'upload of 1 KiB',
    async () => {
      for (let n = 0; n < UPLOADS; n++) await upload(`src/a${n}`);
    },
    UPLOADS,
  );
  const names = Array.from({ length: UPLOADS }, (_, n) => `src/b${n}`);
  await timed(`one of ${UPLOADS} uploads at once`, () => Promise.all(names.map(upload)), UPLOADS);
  const probe = new Probe({ ...server.address, path: `/v1/codebases/${other.id}` });
  const before = server.cpu();
  await probe.during('import', () =>
    timed(`import of ${FILES} files of 1 KiB`, () => send(server, 'PUT', `${files}?format=tar&mode=replace`, archive)),
  );
  taken['CPU time of the server in the import'] = (server.cpu() - before) * 1000;
  const { middle, longest } = await probe.times('import');
  probe.stop();
  taken['a request for another codebase meanwhile'] = middle;
  taken['the longest of these'] = longest;
  await timed(`list of ${FILES} files`, () => listAll(server, files));
  await timed('download of 1 KiB', () => send(server, 'GET', `${files}/d0/e0/file-0.txt`));
  await timed(`export of ${FILES} files`, () => send(server, 'GET', `${files}?format=tar`));
  for (const codebase of [id, other.id]) await server.call('DELETE', `/v1/codebases/${codebase}`);
  return taken;
}

async function listAll(server, files) {
  let token = '';
  do {
    const query = `recursive=true&page_size=${PAGE}&page_token=${encodeURIComponent(token)}`;
    token = (await server.call('GET', `${files}?${query}`)).next_page_token;
  } while (token !== '');
}

async function send(server, method, path, body) {
  const sending = request({ ...server.address, method, path, agent: server.agent }).end(body);
  const [answer] = await once(sending, 'response');
  answer.resume();
  await once(answer, 'end');
  if (answer.statusCode !== 200) throw new Error(`${method} ${path}: ${answer.statusCode}`);
}

/** Files in directories of 100, no two the same. */
function packed() {
  const source = mkdtempSync(join(tmpdir(), 'paddock-bench-packed-'));
  try {
    for (let n = 0; n < FILES; n++) {
      const folder = join(source, `d${Math.floor(n / 1000)}/e${Math.floor(n / 100) % 10}`);
      if (n % 100 === 0) mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, `file-${n}.txt`), Buffer.alloc(1024, `${n} of ${FILES}\n`));
    }
    return execFileSync('tar', ['-C', source, '-cf', '-', '.'], { maxBuffer: 1 << 30 });
  } finally {
    rmSync(source, { recursive: true });
  }
}
