import { define } from './define.ts';

export const listPresets = define({}, (_input, { services }) => ({ presets: services.sandboxes.presets() }));
