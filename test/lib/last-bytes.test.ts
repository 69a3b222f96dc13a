import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LastBytes } from '../../lib/last-bytes.ts';

const chunks = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 20 });

it('has the last bytes of what was appended, and counts the others', () => {
  fc.assert(
    fc.property(chunks, fc.nat(60), fc.nat(60), (appended, capacity, memory) => {
      let left = memory;
      const last = new LastBytes(capacity, (bytes) => {
        const granted = Math.min(bytes, left);
        left -= granted;
        return granted;
      });
      const lost = appended.reduce((sum, each) => sum + last.append(each), 0);
      const all = Buffer.concat(appended);
      const kept = Buffer.concat(last.chunks);
      expect(kept.length).toBeLessThanOrEqual(Math.min(capacity, memory));
      expect(kept.length + lost).toBe(all.length);
      expect(kept).toEqual(all.subarray(all.length - kept.length));
      if (memory >= capacity) expect(kept.length).toBe(Math.min(capacity, all.length));
    }),
  );
});
