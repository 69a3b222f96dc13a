import { defineUpload, offset } from './define.ts';

/** Takes the input as it arrives: what was taken before an error stays taken. */
export const writeProcessInput = defineUpload(
  'WriteProcessInput',
  { process_id: { required: true }, offset },
  (request, content, { services, signal }) => services.processes.write(request, content, signal),
);
