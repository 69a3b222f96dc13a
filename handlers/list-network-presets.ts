import { define } from './define.ts';

export const listNetworkPresets = define('ListNetworkPresets', {}, (_input, { services }) => ({
  presets: services.networks.presets(),
}));
