import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** In files that git ignores, as they should be. */
export const SECRET = randomBytes(16).toString('hex');

const pem = (label) =>
  `-----BEGIN ${label}-----\n${Buffer.from(`made by a test: ${SECRET}`).toString('base64')}\n-----END ${label}-----\n`;
const certificate = pem('CERTIFICATE').replace(/^(?!-----).*$/m, 'bm90IGEgc2VjcmV0');

/** Files of every project: real secrets, and what only has their names. */
export function writeCommon(directory) {
  const put = (path, text) => writeFileSync(join(directory, path), text);
  put('.env', `API_TOKEN=${SECRET}\nPORT=3000\nNODE_ENV=development\n`);
  put('server.key', pem('PRIVATE KEY'));
  put('.env.example', 'API_TOKEN=\nPORT=3000\nNODE_ENV=development\n');
  appendFileSync(join(directory, '.npmrc'), 'ignore-scripts=true\nfund=false\n');
  put('ca.pem', certificate);
  mkdirSync(join(directory, 'tests'), { recursive: true });
  put('tests/fixture.pem', certificate);
  appendFileSync(
    join(directory, '.gitignore'),
    '/.env\n/server.key\n/mirror/\n.venv/\nnode_modules/\n/target/\n*.egg-info/\n',
  );
}

export function commitAll(directory) {
  const git = (...args) => execFileSync('git', args, { cwd: directory, stdio: ['ignore', 'ignore', 'inherit'] });
  git('init', '-q');
  git('add', '-A');
  git('-c', 'user.name=test', '-c', 'user.email=test@example.com', 'commit', '-qm', 'A project');
}
