import { define } from './define.ts';

export const listPresets = define('ListPresets', {}, (_input, { services }) => ({
  presets: services.sandboxes.presets(),
}));
