import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the tests below import. */
const NEEDED =
  /^(ajv.*|fast-json-body|fastify-plugin|fluent-json-schema|h2url|http-errors|joi|JSONStream|node-forge|proxyquire|split2|undici|vary|yup)$/;
const TESTS = ['https/*', 'http2/*', 'hooks', 'inject', 'route.*', '404s', 'logger/*'].map(
  (name) => `test/${name}.test.js`,
);

/** The published package, with its tests; `mirror` is a cache of npm with all that `npm ci` asks for. */
function prepare(directory) {
  const mirror = join(directory, 'mirror');
  mkdirSync(mirror);
  const npm = (...args) => execFileSync('npm', args, { cwd: directory, stdio: ['ignore', 2, 2] });
  npm('pack', 'fastify', '--silent', '--pack-destination', mirror);
  const archive = join(mirror, readdirSync(mirror).find((each) => each.endsWith('.tgz')) ?? '');
  execFileSync('tar', ['-xzf', archive, '-C', directory, '--strip-components=1']);
  rmSync(archive);
  const manifest = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
  const kept = Object.entries(manifest.devDependencies).filter(([name]) => NEEDED.test(name));
  manifest.devDependencies = Object.fromEntries(kept);
  manifest.scripts = { test: `node --test --test-reporter=tap ${TESTS.join(' ')}` };
  writeFileSync(join(directory, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  // What the package says to npm of its own development.
  writeFileSync(join(directory, '.npmrc'), '');
  npm(
    'install',
    '--cache',
    mirror,
    '--ignore-scripts',
    '--silent',
    '--package-lock',
    '--no-omit-lockfile-registry-resolved',
  );
  rmSync(join(directory, 'node_modules'), { recursive: true });
  // The addresses in the cache are those of the caller's registry.
  writeFileSync(
    join(mirror, 'npmrc'),
    `registry=${execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' })}`,
  );
}

export const fastify = {
  prepare,
  steps: [
    ['npm ci', 'npm ci --offline --cache mirror --userconfig mirror/npmrc --no-audit'],
    ['settings of npm', 'test "$(npm config get ignore-scripts)" = true'],
    ['npm test', 'npm test --cache "$HOME/.npm-cache"'],
  ],
  installed: ['node_modules'],
};
