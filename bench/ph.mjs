import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Server } from './exec/server.mjs';
import { FILES, makeFiles } from './changes/files.mjs';
const d = mkdtempSync(join(tmpdir(), 'ph-'));
const server = await Server.start(d);
const id = await server.create();
for (let r = 0; r < 3; r++) {
  await server.exec(id, makeFiles(`r${r}`, FILES, 100));
  execFileSync('sync');
  const b = performance.now();
  await server.call('POST', `/v1/sandboxes/${id}/commit`, {});
  console.log('commit', (performance.now() - b).toFixed(0));
  execFileSync('sync');
  let b2 = performance.now();
  execFileSync('cp', ['-a', join(d, 'state/codebases', (await server.call('GET', `/v1/sandboxes/${id}`)).codebase_id, 'files', `r${r}`), join(d, `to${r}`)]);
  const c = performance.now() - b2;
  execFileSync('sync', ['-f', d]);
  console.log('cp', c.toFixed(0), 'sync', (performance.now() - b2 - c).toFixed(0));
}
await server.stop();
rmSync(d, { recursive: true, force: true });
