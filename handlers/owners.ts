import { RESOURCE_RANGES } from '../lib/resource-limits.ts';
import { define, plainName } from './define.ts';

/** 0: no limit. */
const amount = { minimum: 0 } as const;
const bytes = { minimum: 0, unit: 'bytes' } as const;

export const setOwnerLimits = define(
  {
    rpc: 'SetOwnerLimits',
    route: 'PUT /v1/owners/{owner_id}/limits',
    access: { role: 'admin', scope: 'owners:write', on: 'nothing' },
    retry: 'same',
    example: { path: { owner_id: 'ann' }, body: { limits: { commands: 8 } } },
    constraints: {
      owner_id: { required: true, ...plainName },
      limits: {
        fields: {
          requests_per_second: amount,
          request_burst: amount,
          commands: amount,
          streams: amount,
          creates_per_minute: amount,
          codebases: amount,
          stored_bytes: bytes,
          delta_bytes: bytes,
          sandboxes: amount,
          memory_bytes: { ...RESOURCE_RANGES.memory_bytes, orZero: true, unit: 'bytes' },
          cpu_quota: { ...RESOURCE_RANGES.cpu_quota, orZero: true, unit: 'microseconds per 100,000' },
        },
      },
    },
  },
  ({ request }, { services }) => services.owners.set(request.owner_id, request.limits),
);

export const getOwnerLimits = define(
  {
    rpc: 'GetOwnerLimits',
    route: 'GET /v1/owners/{owner_id}/limits',
    access: { role: 'owner', on: 'owner' },
    retry: 'read',
    example: { path: { owner_id: 'ann' } },
    constraints: { owner_id: { required: true, ...plainName } },
  },
  ({ request }, { services }) => services.owners.get(request.owner_id),
);
