/**
 * Measures the start of a sandbox that has changed a million entries, whose index is read, and the start after half of them
 * were removed, when the index is rewritten, too. Meanwhile requests are made for another sandbox, which the same thread
 * serves.
 */
import { Probe } from './probe.mjs';

const quick = process.argv.includes('--quick');
const DIRECTORIES = quick ? 50 : 1000;
const ENTRIES_EACH = 1000;
/** Directories that one command makes or removes. */
const AT_ONCE = 25;
const DURING = { none: 'nothing else', load: 'the load of the index', rewrite: 'the load and rewrite of the index' };

export async function largeIndex(server) {
  const id = await server.create();
  const other = await server.create();
  await server.exec(other, 'echo x > probed');
  const probe = new Probe({ ...server.address, path: `/v1/sandboxes/${other}/stat?path=probed` });
  const rows = [];
  const measured = async (during, task) => {
    const began = performance.now();
    await probe.during(during, task);
    const ms = performance.now() - began;
    if (during !== DURING.none) rows.push({ name: `start with ${during}`, value: `${(ms / 1000).toFixed(2)} s` });
    rows.push(await probe.row(during));
  };
  await inParts(DIRECTORIES, (from, to) =>
    server.exec(id, perl(`mkdir "d$d" or die; open my $f, ">", "d$d/f$_" or die for 2 .. ${ENTRIES_EACH}`, from, to)),
  );
  await measured(DURING.none, () => new Promise((resolve) => setTimeout(resolve, 1000)));
  await server.call('POST', `/v1/sandboxes/${id}/stop`);
  await measured(DURING.load, () => started(server, id));
  await inParts(DIRECTORIES * 0.6, (from, to) => server.exec(id, `seq -f d%.0f ${from} ${to - 1} | xargs rm -r`));
  await server.call('POST', `/v1/sandboxes/${id}/stop`);
  await measured(DURING.rewrite, () => started(server, id));
  probe.stop();
  await server.destroy(id);
  await server.destroy(other);
  return { title: `An index of ${(DIRECTORIES * ENTRIES_EACH).toLocaleString('en')} entries`, rows };
}

/** Starts a sandbox and uses its workspace, which reads its index. */
async function started(server, id) {
  await server.call('POST', `/v1/sandboxes/${id}/start`);
  await server.exec(id, 'ls > /dev/null');
}

async function inParts(count, act) {
  for (let from = 0; from < count; from += AT_ONCE) await act(from, Math.min(from + AT_ONCE, count));
}

function perl(act, from, to) {
  return `perl -e 'for my $d (${from} .. ${to - 1}) { ${act} }'`;
}
