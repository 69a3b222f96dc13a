import { expect, it } from 'vitest';
import { meminfo, memoryStat } from '../../../../lib/runtime/shown/meminfo.ts';

const MIB = 1 << 20;
const fields = (text: string) =>
  Object.fromEntries(text.split('\n').map((line) => line.split(/:? +/).slice(0, 2))) as Record<string, string>;

it.each([
  [
    1,
    `cache 7\ntotal_cache ${64 * MIB}\ntotal_rss ${30 * MIB}\ntotal_active_file ${10 * MIB}\ntotal_inactive_file ${20 * MIB}\n`,
  ],
  [2, `file ${64 * MIB}\nanon ${30 * MIB}\nactive_file ${10 * MIB}\ninactive_file ${20 * MIB}\n`],
] as const)('memory that the kernel takes back for programs is available, on v%i', (version, text) => {
  const shown = fields(meminfo(512 * MIB, 100 * MIB, memoryStat(text, version)));
  expect(shown).toMatchObject({
    MemTotal: `${512 * 1024}`,
    MemFree: `${412 * 1024}`,
    MemAvailable: `${442 * 1024}`,
    Cached: `${64 * 1024}`,
    AnonPages: `${30 * 1024}`,
    SwapTotal: '0',
  });
});

it('use above the limit is no negative rest', () => {
  expect(fields(meminfo(8 * MIB, 9 * MIB, new Map()))).toMatchObject({ MemFree: '0', MemAvailable: '0' });
});

it('every text has the same length, so that one replaces another while it is read', () => {
  const texts = [0, 2 ** 20, 2 ** 46].map((bytes) => meminfo(2 ** 52, bytes, new Map([['file', bytes]])));
  expect(new Set(texts.map((text) => text.length)).size).toBe(1);
});
