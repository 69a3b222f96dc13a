/**
 * Measures UpdatePermissions with 1,000 rules, from the request to the answer (from which on every operation obeys). The
 * kernel has 100,000 names and attributes of the sandbox cached and, in some rows, the contents too. Two sets of rules
 * alternate; between them the files are accessed again, so that they are cached again.
 */
import { judged, median } from '../exec/table.mjs';
import { makeFiles } from './files.mjs';

const ENTRIES = 100_000;
const PART = 5_000;
const RULES = 1000;
const MUST_MS = 100;
const AIM_MS = 20;
const LOOK = 'find . -printf %s > /dev/null';
const READ = 'find . -type f -exec cat {} + > /dev/null';

const rule = (pattern, permission, type = 'PATTERN_GLOB') => ({
  pattern,
  permission: `PERMISSION_${permission}`,
  type,
});
/** The first rule is for all files; the others are for single files and names, as in real sets. */
const set = (level) => [
  rule('**', level),
  ...Array.from({ length: RULES - 2 }, (_, n) =>
    rule(`deep/d${String(n).padStart(4, '0')}/secret${n}`, 'NONE', 'PATTERN_FILE'),
  ),
  rule('**/*.key', 'NONE'),
];

const CASES = [
  { name: 'every file WRITE to READ and back', sets: [set('WRITE'), set('READ')], look: LOOK },
  { name: 'every file READ to VIEW and back', sets: [set('READ'), set('VIEW')], look: LOOK },
  {
    name: 'one of 1,000 rules changes',
    sets: [set('WRITE'), [...set('WRITE').slice(0, -1), rule('**/*.pem', 'NONE')]],
    look: LOOK,
  },
  {
    name: 'every file WRITE to READ and back, contents of 10,000 cached',
    sets: [set('WRITE'), set('READ')],
    look: `${LOOK}; cd deep; cat d00[0-4]*/* > /dev/null`,
  },
  {
    name: 'every file WRITE to READ and back, all contents cached',
    sets: [set('WRITE'), set('READ')],
    look: `${LOOK}; ${READ}`,
    judged: false,
  },
];

export async function rules(server, _directory, rounds) {
  const writer = await server.create();
  // In parts, each well within the timeout of a command.
  for (let made = 0; made < ENTRIES; made += PART) await server.exec(writer, makeFiles('deep', PART, 200, made));
  await server.call('POST', `/v1/sandboxes/${writer}/commit`, {});
  await server.destroy(writer);
  // A new sandbox, so that exactly the files that it accesses are cached.
  const id = await server.create();
  const put = (permissions) => server.call('PUT', `/v1/sandboxes/${id}/permissions`, { permissions });
  const rows = [];
  for (const { name, sets, look, judged: isJudged = true } of CASES) {
    await put(sets[0]);
    /** @type {Record<'times' | 'next' | 'warm', number[]>} */
    const { times, next, warm } = { times: [], next: [], warm: [] };
    for (let round = -1; round < rounds; round++) {
      await server.exec(id, look);
      const cached = await timed(() => server.exec(id, look));
      const took = await timed(() => put(sets[round & 1 ? 0 : 1]));
      const after = await timed(() => server.exec(id, LOOK));
      if (round < 0) continue;
      times.push(took);
      next.push(after);
      warm.push(cached);
    }
    const ms = median(times);
    rows.push({
      name,
      value: `${ms.toFixed(0)} ms`,
      beside: `the next find of all: ${median(next).toFixed(0)} ms; warm look: ${median(warm).toFixed(0)} ms`,
      ...(isJudged && { must: `${MUST_MS} ms`, aim: `${AIM_MS} ms`, verdict: judged(ms <= MUST_MS, ms <= AIM_MS) }),
    });
  }
  await server.destroy(id);
  return { title: `UpdatePermissions, 1,000 rules, 100,000 cached entries, ${rounds} times`, rows };
}

async function timed(act) {
  const began = performance.now();
  await act();
  return performance.now() - began;
}
