import { command } from '../command.ts';
import { requireRoot } from '../connect.ts';
import { localDirectory } from '../local/record.ts';
import { startLocal } from '../local/start.ts';

export default command({
  name: 'server start',
  summary: 'start a local server in the background, as "run" and "create" do if none is configured',
  usage: '',
  details: `
It listens on a free port of the loopback interface, and needs a key that only its user can read. Its state is in
/var/lib/paddock-local, or the directory that PADDOCK_LOCAL_STATE names. Needs root.`,
  options: {},
  examples: ['paddock server start'],
  operands: [0, 0],
  async run({ out, env, signal }) {
    requireRoot();
    const { pid, url } = await startLocal(localDirectory(env), { env, signal });
    out.result({ pid, url }, () => `${url} (process ${pid})`);
    return 0;
  },
});
