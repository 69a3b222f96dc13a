import { ServiceError } from '../../errors.ts';
import type { Networks } from '../../network-services.ts';
import type { SandboxContext } from '../context.ts';

export function createNetworks(context: SandboxContext): Networks {
  const missing = () => {
    throw new ServiceError('UNIMPLEMENTED', 'network is not available');
  };
  return {
    get: (id) => {
      context.find(id);
      return { mode: 'none', rules: [], revision: 0, presets: [] };
    },
    update: missing,
    explain: missing,
    connections: missing,
    presets: () => [],
  };
}
