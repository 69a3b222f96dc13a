import { describe, expect, it } from 'vitest';
import { KEEP_VERSIONS, keptVersions } from '../../../lib/store/versions/kept-versions.ts';

const HOUR = 3_600_000;
const NOW = 1_780_000_000_000;

/** Newest first: one each so many hours. */
function versions(count: number, hours: number, bytes = 1) {
  return Array.from({ length: count }, (_, n) => ({ number: count - n, createdAt: NOW - n * hours * HOUR, bytes }));
}

const keep = { ...KEEP_VERSIONS, bytes: 1_000_000 };

describe('the versions of a codebase that are kept', () => {
  it('are the newest 100, however old', () => {
    expect(keptVersions(versions(150, 24), NOW, keep)).toBe(100);
    expect(keptVersions(versions(99, 24 * 365), NOW, keep)).toBe(99);
  });

  it('are those of 7 days, up to 1,000', () => {
    expect(keptVersions(versions(500, 1), NOW, keep)).toBe(7 * 24 + 1);
    expect(keptVersions(versions(5000, 0.01), NOW, keep)).toBe(1000);
  });

  it('have at most so many bytes beside the head; the oldest go', () => {
    expect(keptVersions(versions(50, 1, 10), NOW, { ...keep, bytes: 100 })).toBe(11);
    expect(keptVersions(versions(50, 1, 10), NOW, { ...keep, bytes: 0 })).toBe(1);
  });

  it('have the head among them in any case', () => {
    expect(keptVersions([{ number: 1, createdAt: 0, bytes: 2 ** 40 }], NOW, { ...keep, bytes: 0 })).toBe(1);
    expect(keptVersions([], NOW, keep)).toBe(0);
  });
});
