import { command } from '../command.ts';
import { localDirectory } from '../local/record.ts';
import { startLocal } from '../local/start.ts';

export default command({
  name: 'server start',
  summary: 'start a local server in the background, as "run" and "create" do if none is configured',
  usage: '',
  details: `
It listens on a free port of the loopback interface, and needs a key that only its user can read. Its state is in
/var/lib/paddock-local (root) or ~/.local/state/paddock-local, or in the
directory that PADDOCK_LOCAL_STATE names.`,
  options: {},
  examples: ['paddock server start'],
  operands: [0, 0],
  async run({ out, env, signal }) {
    const { pid, url } = await startLocal(localDirectory(env), { env, signal });
    out.result({ pid, url }, () => `${url} (process ${pid})`);
    return 0;
  },
});
