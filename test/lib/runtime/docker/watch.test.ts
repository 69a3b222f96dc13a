import type { Container } from 'dockerode';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../../../lib/log.ts';
import { daemonAddress } from '../../../../lib/runtime/docker/address.ts';
import { containerName, INSTANCE_LABEL, SANDBOX_LABEL } from '../../../../lib/runtime/docker/container.ts';
import { Daemon } from '../../../../lib/runtime/docker/daemon.ts';
import { ContainerWatch } from '../../../../lib/runtime/docker/watch.ts';
import { type Daemon as PrivateDaemon, startDaemon } from '../../../docker/daemon.ts';
import { importImage } from '../../../docker/images.ts';

let dockerd: PrivateDaemon;
let watch: ContainerWatch;
let made = 0;
const watched: string[] = [];

beforeAll(async () => {
  dockerd = await startDaemon();
  await importImage(dockerd.docker, 'sleeper', { programs: ['sleep'] });
});
afterAll(() => dockerd?.stop());
beforeEach(() => {
  watch = new ContainerWatch(
    new Daemon(daemonAddress(dockerd.host, {})),
    'mine',
    { callMs: 5000, retryMs: 50 },
    silentLog,
  );
});
afterEach(() => {
  for (const id of watched.splice(0)) watch.remove(id);
});

async function sleeper(instance = 'mine'): Promise<Container> {
  const id = `sb_${made++}`;
  const container = await dockerd.docker.createContainer({
    name: containerName(instance, id),
    Image: 'sleeper',
    Cmd: ['/bin/sleep', '600'],
    StopSignal: 'SIGKILL',
    Labels: { [INSTANCE_LABEL]: instance, [SANDBOX_LABEL]: id },
  });
  await container.start();
  return container;
}

function ended({ id }: { id: string }): Promise<string> {
  watched.push(id);
  return new Promise((resolve) => watch.add(id, ({ reason }) => resolve(reason)));
}

describe('the watch of containers', () => {
  it('reports a killed container', async () => {
    const container = await sleeper();
    const end = ended(container);
    await container.kill();
    expect(await end).toBe('its container ended with exit code 137');
  });

  it('reports a removed container', async () => {
    const container = await sleeper();
    const end = ended(container);
    await container.remove({ force: true });
    expect(await end).toMatch(/^its container (ended with exit code 137|was removed)$/);
  });

  it('reports a container that ended or was removed before the watch began', async () => {
    const [killed, removed] = [await sleeper(), await sleeper()];
    await killed.kill();
    await removed.remove({ force: true });
    expect(await ended(killed)).toMatch(/^its container ended: Exited \(137\)/);
    expect(await ended(removed)).toBe('its container was removed');
  });

  it('reports containers that a restart of the daemon ended', async () => {
    const container = await sleeper();
    const end = ended(container);
    await dockerd.kill();
    await dockerd.start();
    expect(await end).toMatch(/^its container ended/);
  });

  it('does not report a container that survives an outage, and continues to watch it', async () => {
    const [container, other] = [await sleeper(), await sleeper()];
    const end = ended(container);
    dockerd.pause();
    const otherEnd = ended(other);
    dockerd.resume();
    await other.kill();
    await otherEnd;
    expect(await Promise.race([end, 'nothing'])).toBe('nothing');
    await container.kill();
    expect(await end).toMatch(/137/);
  });

  it('reports nothing after remove', async () => {
    const [container, other] = [await sleeper(), await sleeper()];
    const end = ended(container);
    const otherEnd = ended(other);
    watch.remove(container.id);
    await container.kill();
    await other.kill();
    await otherEnd;
    expect(await Promise.race([end, 'nothing'])).toBe('nothing');
  });
});
