/** Measures SessionExec, compared with Exec of the same command, both over REST, one call after the other. */
import { at } from '../exec/table.mjs';
import { alternate, verdictOf } from './alternate.mjs';

export async function sessions(server, rounds) {
  const id = await server.create();
  const { id: session_id } = await server.call('POST', `/v1/sandboxes/${id}/sessions`, {});
  const timed = async (call) => {
    const began = performance.now();
    const { exit_code } = await call();
    if (exit_code !== 0) throw new Error(`true: exit code ${exit_code}`);
    return performance.now() - began;
  };
  const body = { command: 'true' };
  const ways = {
    exec: () => timed(() => server.call('POST', `/v1/sandboxes/${id}/exec`, body)),
    session: () => timed(() => server.call('POST', `/v1/sessions/${session_id}/exec`, body)),
  };
  const times = await alternate(ways, rounds, 30);
  await server.destroy(id);
  const rows = [0.5, 0.99].map((share) => {
    const [exec, session] = [at(times.exec, share), at(times.session, share)];
    const shown = {
      name: `SessionExec of true, p${share * 100}`,
      value: `${session.toFixed(2)} ms`,
      beside: `${(session / exec).toFixed(2)} × Exec (${exec.toFixed(2)} ms)`,
    };
    return share === 0.5 ? { ...shown, must: '1 × Exec', verdict: verdictOf(session <= exec) } : shown;
  });
  return { title: `Commands of a session, ${rounds} calls each`, rows };
}
