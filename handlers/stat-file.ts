import { define, fileRequest } from './define.ts';

export const statFile = define(fileRequest, ({ request }, { services }) => services.sandboxes.statFile(request));
