/** Exit code 0 if node_modules matches package-lock.json: compares the two lock files entry by entry. */
import { readFileSync } from 'node:fs';

function packages(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages;
  } catch {
    return undefined;
  }
}

const wanted = packages('package-lock.json');
const installed = packages('node_modules/.package-lock.json');

/** Packages for other platforms are optional and absent. */
function current([path, entry]) {
  if (path === '') return true;
  const found = installed[path];
  return found === undefined ? entry.optional === true : found.version === entry.version;
}

process.exit(wanted && installed && Object.entries(wanted).every(current) ? 0 : 1);
