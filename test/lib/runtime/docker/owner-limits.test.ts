import { expect, it } from 'vitest';
import { silentLog } from '../../../../lib/log.ts';
import { createDockerRuntime } from '../../../../lib/runtime/docker/index.ts';
import { RESOURCES } from '../run.ts';

it('a sandbox whose owner has a limit of memory or CPU is refused before the daemon is asked', async () => {
  const runtime = createDockerRuntime({
    host: 'unix:///nonexistent.sock',
    environment: { DOCKER_HOST: undefined, DOCKER_TLS_VERIFY: undefined, DOCKER_CERT_PATH: undefined },
    stateDir: '/nonexistent',
    networkMode: 'none',
    enableNetworking: false,
    log: silentLog,
  });
  const spec = { id: 'sb_1', workspace: '/w', runDir: '/r', uid: 1000, image: 'a', resources: RESOURCES };
  const owner = { group: 'owner-a', memory_bytes: 1 << 24, cpu_quota: 0 };
  await expect(runtime.launch({ ...spec, owner })).rejects.toMatchObject({
    code: 'FAILED_PRECONDITION',
    message: 'memory_bytes and cpu_quota of the owner’s limits cannot be enforced with RUNTIME_DOCKER',
  });
});
