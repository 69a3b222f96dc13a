import { define } from './define.ts';

export const previewFile = define('PreviewFile', { path: { format: 'file-path' } }, ({ request }, { services }) =>
  services.sandboxes.previewFile(request),
);
