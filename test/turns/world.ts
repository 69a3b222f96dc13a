import { RestClient } from '../contract/rest-client.ts';
import { ADMIN, type MeasuredServer } from './measured-server.ts';

/** What the largest inputs are about. */
export interface World {
  codebase_id: string;
  /** With everything below, which is all changes. */
  sandbox_id: string;
  /** Ended, with 8 MiB of output. */
  ended: string;
  /** Reads its input, at a terminal. */
  reading: string;
  session_id: string;
  /** A codebase without sandboxes. */
  spare_id: string;
  /** Of whose network there is an event. */
  watched_id: string;
}

export const MIB = 1024 * 1024;

/** Names of 250 bytes in one directory; directories as deep as a path can be; texts that cost most to escape and compare. */
const PROGRAM = `
set -e
mkdir wide long deep
n=$(printf 'n%.0s' $(seq 245)); (cd wide; seq -f "$n%05g" 12000 | xargs touch)
cd long; for i in $(seq 14); do mkdir $n; cd $n; done; seq -f "$n%05g" 1000 | xargs touch; cd /workspace
d=$(printf 'd/%.0s' $(seq 1900)); mkdir -p deep/$d
head -c 1048576 /dev/zero | tr '\\0' '\\001' > control
head -c 1048576 /dev/zero | tr '\\0' '\`' > ticks
head -c 1048576 /dev/zero | tr '\\0' '\\n' > lines
head -c 3145728 /dev/urandom > media.png
yes a | head -c 4194304 > letters
seq 500000 > numbers
`;

export async function makeWorld(server: MeasuredServer): Promise<World> {
  const rest = new RestClient(server.httpAddress, ADMIN);
  try {
    const { id: codebase_id } = await rest.call('CreateCodebase', { name: 'c', owner_id: 'ann' });
    await rest.upload(codebase_id, 'letters', 'b\n'.repeat(2 * MIB));
    await rest.upload(codebase_id, 'numbers', Array.from({ length: 500_000 }, (_, n) => `${2 * n}\n`).join(''));
    const { id: sandbox_id } = await rest.call('CreateSandbox', { codebase_id, rules: { write: ['**'] } });
    const made = await rest.call('Exec', { sandbox_id, command: PROGRAM, timeout: 300 });
    if (made.exit_code !== 0) throw new Error(made.stderr);
    const start = async (request: object) => (await rest.call('StartProcess', { sandbox_id, ...request })).process_id;
    const ended = await start({ command: `head -c ${8 * MIB} /dev/zero | tr '\\0' '\\001'` });
    const reading = await start({ command: 'cat > /dev/null', stdin: true, terminal: { columns: 80, rows: 24 } });
    const { id: session_id } = await rest.call('CreateSession', { sandbox_id });
    const { id: spare_id } = await rest.call('CreateCodebase', { name: 's', owner_id: 'ann' });
    const network = { mode: 'allow_list', rules: [{ host: 'allowed.example' }] };
    const { id: watched_id } = await rest.call('CreateSandbox', { codebase_id: spare_id, network });
    await rest.call('Exec', { sandbox_id: watched_id, command: 'getent ahostsv4 refused.example || true' });
    return { codebase_id, sandbox_id, ended, reading, session_id, spare_id, watched_id };
  } finally {
    rest.close();
  }
}
