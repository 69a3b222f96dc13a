import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const PACKAGES = join(ROOT, 'node_modules/.cache/python-packages');

/** The system's Python, which scripts/setup.sh installs. */
export const PYTHON = '/usr/bin/python3';

/** Value of PYTHONPATH for the client as it is in this checkout. Installs what it depends on, once. */
export function pythonPath(): string {
  if (!existsSync(PACKAGES)) install();
  return `${join(ROOT, 'clients/python')}:${PACKAGES}`;
}

function install(): void {
  mkdirSync(dirname(PACKAGES), { recursive: true });
  const made = mkdtempSync(`${PACKAGES}-`);
  const pip = [PYTHON, '-m', 'pip', 'install', '--quiet', '--target', made, 'httpx >= 0.28, < 1'];
  execFileSync('sh', [join(ROOT, 'scripts/from-network.sh'), ...pip]);
  try {
    renameSync(made, PACKAGES);
  } catch {
    // Another test file has done it meanwhile.
    rmSync(made, { recursive: true });
  }
}
