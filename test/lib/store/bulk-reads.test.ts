import { expect, it } from 'vitest';
import { Cache } from '../../../lib/store/cache.ts';
import { ObjectStore } from '../../../lib/store/object-store.ts';
import { OpenFiles } from '../../../lib/store/open-files.ts';
import { SimulatedDisk } from '../disk/simulated-disk.ts';
import { directory, FOLDER, newStore } from './stores.ts';

it('a directory that an archive asks for with each of its members is read once', () => {
  const simulated = new SimulatedDisk();
  newStore(simulated).close();
  let reads = 0;
  const disk = new Proxy(simulated, {
    get: (target, name) => {
      const value = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        if (name === 'pread') reads++;
        return value.apply(target, args);
      };
    },
  });
  const bulk = ObjectStore.open({ disk, files: new OpenFiles(disk), cache: new Cache(1000) }, FOLDER).bulk();
  const key = bulk.put(directory('a', 'b'));
  bulk.sync();
  reads = 0;
  for (let n = 0; n < 100; n++) expect(bulk.load(key).count).toBe(2);
  expect(reads).toBeGreaterThan(0);
  expect(reads).toBeLessThan(10);
});
