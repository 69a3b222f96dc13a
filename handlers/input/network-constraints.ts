import { NETWORK_ACTIONS, NETWORK_MODES, TLS_MODES } from '../../lib/field-values.ts';
import {
  MAX_CIDR_BYTES,
  MAX_HOST_BYTES,
  MAX_METHODS,
  MAX_NETWORK_RULES,
  MAX_PATH_BYTES,
  MAX_PORTS,
  MAX_PRESETS,
} from '../../lib/network/policy/policy-limits.ts';
import type { Constraints, FieldConstraint } from './constraints.ts';

/** Number of a TCP port. */
export const port = { minimum: 1, maximum: 65_535 } as const satisfies FieldConstraint;

/** A name or an address; the policy tells what is wrong with it. */
export const networkHost = { maxBytes: MAX_HOST_BYTES } as const satisfies FieldConstraint;

/** https://www.rfc-editor.org/rfc/rfc9110#name-tokens */
export const httpMethod = {
  pattern: { source: "[A-Za-z0-9!#$%&'*+.^_`|~-]{1,32}", problem: 'must be the method of an HTTP request, like GET' },
} as const satisfies FieldConstraint;

export const httpPath = { maxBytes: MAX_PATH_BYTES } as const satisfies FieldConstraint;

/** The fields of a policy that a request sets. */
export const networkPolicy = {
  mode: { values: NETWORK_MODES },
  rules: {
    maxItems: MAX_NETWORK_RULES,
    items: {
      fields: {
        host: networkHost,
        cidr: { maxBytes: MAX_CIDR_BYTES },
        ports: { maxItems: MAX_PORTS, items: port },
        action: { values: NETWORK_ACTIONS },
        methods: { maxItems: MAX_METHODS, items: { minLength: 1, ...httpMethod } },
        path_prefix: httpPath,
        tls: { values: TLS_MODES },
        preset: { maxLength: 64 },
      },
    },
  },
  revision: { minimum: 0 },
  presets: { maxItems: MAX_PRESETS, items: { minLength: 1, maxLength: 64 } },
} as const satisfies Constraints;

/** The policy of a new sandbox; absent: the default of the operation. */
export const newNetwork = { mayBeAbsent: true, fields: networkPolicy } as const satisfies FieldConstraint;
