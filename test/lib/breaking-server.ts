import { isMainThread } from 'node:worker_threads';
import { compose } from '../../lib/composition.ts';
import { loadConfig } from '../../lib/config/load.ts';
import { silentLog } from '../../lib/log.ts';
import { createRequest, execRequest, never } from './sandboxes/fixture.ts';

/** A server with the configuration argv[3] and one sandbox, in which a command keeps a directory locked; reports when it does. */
if (!isMainThread) await import('./breaking-entry.ts');
else {
  const invocation = loadConfig();
  if (invocation.action !== 'serve') throw new Error('not to be served');
  const { services } = await compose(invocation.config, {
    ...invocation,
    entry: new URL(import.meta.url),
    log: silentLog,
  });
  const { id: codebase_id } = await services.codebases.create({ name: 'a', owner_id: 'ann' });
  const { id } = await services.sandboxes.create(createRequest({ codebase_id, permissions: [] }));
  await services.sandboxes.exec(execRequest(id, { command: 'ls hold-the-lock' }), never);
  process.stdout.write(`${id}\n`);
}
