import { CHANGE_FORMATS } from '../lib/field-values.ts';
import { actor, changeChoice, define, type Export, exported } from './define.ts';

export const exportChanges = define(
  'ExportChanges',
  { ...actor, ...changeChoice, format: { required: true, values: CHANGE_FORMATS } },
  async ({ request }, { services, signal }): Promise<Export> => {
    const { sandbox_id, format, as, ...choice } = request;
    return exported(await services.sandboxes.exportChanges(sandbox_id, format, as, choice, signal));
  },
);
