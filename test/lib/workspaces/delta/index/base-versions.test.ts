import { expect, it, onTestFinished, vi } from 'vitest';
import { fromText } from '../../../../../lib/byte-string.ts';
import { BaseVersions } from '../../../../../lib/workspaces/delta/index/base-versions.ts';
import { IdentityRows } from '../../../../../lib/workspaces/delta/index/identity-rows.ts';

it('finds the path of an inode number among many, which no one call indexes all at once', () => {
  const examined = vi.spyOn(IdentityRows.prototype, 'inoOf');
  onTestFinished(() => void vi.restoreAllMocks());
  const versions = new BaseVersions();
  const path = (number: number) => fromText(`d${number % 100}/${number}`);
  let most = 0;
  for (let number = 1; number <= 10_000; number++) {
    examined.mockClear();
    versions.add(path(number), [number, 0o100644, 0, 0, 0]);
    most = Math.max(most, examined.mock.calls.length);
  }
  examined.mockClear();
  expect(versions.pathOf(7_000)).toBe(path(7_000));
  expect(examined.mock.calls.length).toBeLessThan(100);
  expect(most).toBeLessThan(20_000);
  versions.delete(path(7_000));
  expect(versions.pathOf(7_000)).toBeUndefined();
  expect(versions.pathOf(6_999)).toBe(path(6_999));
});
