import { IMPORT_MODES } from '../lib/field-values.ts';
import { archive, defineUpload } from './define.ts';

/** Imports an archive at the end of its content, all or nothing; an error of the content changes nothing. */
export const importCodebaseFiles = defineUpload(
  'ImportCodebaseFiles',
  { ...archive, mode: { values: IMPORT_MODES } },
  ({ codebase_id, mode, if_revision }, content, { services }) =>
    services.codebases.importArchive(codebase_id, mode || 'merge', content, if_revision),
);
