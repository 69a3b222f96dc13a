import { ServiceError } from '../errors.ts';
import {
  AUTO_COMMITS,
  type AutoCommit,
  type CreateSandboxRequest,
  type ResourceLimits,
  type RuntimeName,
} from '../messages.ts';

const MAX_LABELS = 64;
const MAX_LABEL_KEY = 128;
const MAX_LABEL_VALUE = 1024;
const MAX_IMAGE = 512;
/** Ten years, in seconds. */
const MAX_EXPIRES_IN = 315_360_000;

const LARGEST: ResourceLimits = {
  memory_bytes: Number.MAX_SAFE_INTEGER,
  cpu_quota: Number.MAX_SAFE_INTEGER,
  cpu_shares: 262_144,
  pids_limit: 2 ** 31 - 1,
};

/** Throws INVALID_ARGUMENT naming the first field that is not right. Looks at the request alone, not at what there is. */
export function checkCreate(request: Omit<CreateSandboxRequest, 'permissions' | 'preset'>, runtime: RuntimeName): void {
  if (request.codebase_id === '') throw invalid('codebase_id: is required');
  checkLabels(request.labels);
  checkInteger('expires_in', request.expires_in, MAX_EXPIRES_IN, 'seconds');
  if (request.image !== '' && runtime !== 'RUNTIME_DOCKER') {
    throw invalid(`image: is only for RUNTIME_DOCKER, this sandbox would be ${runtime}`);
  }
  // A reference is passed to the daemon as it is; nothing that could be taken for an option or a header gets there.
  if (request.image !== '' && (request.image.length > MAX_IMAGE || !/^[\w][\w.:/@-]*$/.test(request.image))) {
    throw invalid('image: must be a container image reference like ubuntu:22.04');
  }
  autoCommitOf(request);
  for (const name of Object.keys(LARGEST) as (keyof ResourceLimits)[]) {
    checkInteger(`resources.${name}`, request.resources[name], LARGEST[name]);
  }
}

export function autoCommitOf(request: Pick<CreateSandboxRequest, 'auto_commit'>): AutoCommit {
  const asked = request.auto_commit || 'never';
  const found = AUTO_COMMITS.find((each) => each === asked);
  if (found === undefined) throw invalid(`auto_commit: must be ${AUTO_COMMITS.join(', ')}, or empty for never`);
  return found;
}

function checkLabels(labels: Readonly<Record<string, string>>): void {
  const entries = Object.entries(labels);
  if (entries.length > MAX_LABELS) throw invalid(`labels: at most ${MAX_LABELS}, not ${entries.length}`);
  for (const [key, value] of entries) {
    if (key === '' || key.length > MAX_LABEL_KEY)
      throw invalid(`labels: a key must have 1 to ${MAX_LABEL_KEY} characters`);
    if (value.length > MAX_LABEL_VALUE) {
      throw invalid(`labels[${JSON.stringify(key)}]: at most ${MAX_LABEL_VALUE} characters`);
    }
  }
}

function checkInteger(name: string, value: number, max: number, unit = ''): void {
  if (Number.isSafeInteger(value) && value >= 0 && value <= max) return;
  throw invalid(`${name}: must be a whole number from 0 to ${max}${unit && ` ${unit}`}`);
}

function invalid(message: string): ServiceError {
  return new ServiceError('INVALID_ARGUMENT', message);
}
