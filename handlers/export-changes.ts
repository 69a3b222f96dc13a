import { CHANGE_FORMATS } from '../lib/field-values.ts';
import { actor, define, type Export, exported } from './define.ts';

export const exportChanges = define(
  'ExportChanges',
  { ...actor, format: { required: true, values: CHANGE_FORMATS } },
  async ({ request }, { services }): Promise<Export> =>
    exported(await services.sandboxes.exportChanges(request.sandbox_id, request.format, request.as)),
);
