import { afterEach, beforeEach, expect, it } from 'vitest';
import { verifyCodebase } from '../../../lib/verify/codebases.ts';
import { Report } from '../../../lib/verify/report.ts';
import { ServiceScratch } from '../codebases/tree/service.ts';

let scratch: ServiceScratch;
beforeEach(async () => {
  scratch = new ServiceScratch();
  await scratch.open();
});
afterEach(() => scratch.remove());

it('a codebase on a tree is no damage, and it is said what was not checked; a damaged head is one', async () => {
  const record = scratch.metadata.codebases.get(await scratch.create())!;
  const report = new Report();
  await verifyCodebase(record, scratch.folder, report);
  expect(report.damaged).toBe(0);
  expect([...report.lines()].join('\n')).toContain('its record was checked, its files were not');
  await verifyCodebase({ ...record, tree: { ...record.tree!, root: 'AAAA' } }, scratch.folder, report);
  expect(report.damaged).toBe(1);
});
