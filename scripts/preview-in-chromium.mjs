// Looks at a development server of Vite in a sandbox with Chromium, by the host name of its port and by path: whether the page
// is shown, with its styles, and changes when a file changes; and what a script in it can reach. Not in CI, which has no browser.
// Needs root, Debian's chromium and a built server (npm run build): node scripts/preview-in-chromium.mjs
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import WebSocket from 'ws';

const ROOT = resolve(import.meta.dirname, '..');
const MODULES = join(ROOT, 'node_modules');
const HTTP = 18_471;
const API = `http://127.0.0.1:${HTTP}`;
const PORT = 5173;
const FILES = {
  'index.html': '<link rel="stylesheet" href="/style.css"><h1></h1><script type="module" src="/main.js"></script>',
  'style.css': 'h1 { color: rgb(1, 2, 3) }',
  'main.js':
    'const show = (text) => { document.querySelector("h1").textContent = text };\nshow("one");\nimport.meta.hot.accept();\n',
};
const HOSTILE = `<h1>hostile</h1><script>
  const tried = {};
  const settle = async (name, does) => { try { tried[name] = await does() } catch (error) { tried[name] = 'refused' } };
  Promise.all([
    settle('origin', () => self.origin),
    settle('cookie', () => document.cookie),
    settle('api', async () => (await fetch('/v1/sandboxes')).status),
    settle('create', async () => (await fetch('/v1/codebases', { method: 'POST', body: '{}' })).status),
  ]).then(() => { document.title = JSON.stringify(tried) });
</script>`;

/** @param {string} method @param {string} path @param {object} [body] */
async function call(method, path, body) {
  const answer = await fetch(API + path, { method, ...(body && { body: JSON.stringify(body) }) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return JSON.parse(text || '{}');
}

/** @param {string} what @param {() => Promise<unknown>} holds */
async function eventually(what, holds) {
  let last;
  for (const end = Date.now() + 30_000; Date.now() < end; await delay(200)) {
    last = await holds();
    if (last === true) {
      process.stdout.write(`ok: ${what}\n`);
      return;
    }
  }
  throw new Error(`not so: ${what}; last: ${JSON.stringify(last)}`);
}

/** A page of the browser. @param {string} debuggerUrl */
async function tab(debuggerUrl) {
  const socket = new WebSocket(debuggerUrl);
  await once(socket, 'open');
  const waiting = new Map();
  socket.on('message', (data) => {
    const { id, result } = JSON.parse(String(data));
    waiting.get(id)?.(result);
  });
  let count = 0;
  /** @param {string} method @param {object} [params] @returns {Promise<any>} */
  const send = (method, params = {}) =>
    new Promise((done) => {
      waiting.set(++count, done);
      socket.send(JSON.stringify({ id: count, method, params }));
    });
  return {
    /** @param {string} url */
    open: (url) => send('Page.navigate', { url }),
    /** @param {string} expression */
    evaluate: async (expression) => (await send('Runtime.evaluate', { expression, returnByValue: true })).result?.value,
    close: () => socket.terminate(),
  };
}

const directory = mkdtempSync(join(tmpdir(), 'paddock-chromium-'));
const config = join(directory, 'server.yaml');
const storage = `codebase_path: ${directory}/c, mount_path: ${directory}/m, db_path: ${directory}/db/metadata.json`;
writeFileSync(
  config,
  `server: {http_addr: "127.0.0.1:${HTTP}", grpc_addr: "127.0.0.1:0", preview_domain: preview.localhost}
storage: {${storage}}
runtime: {read_only_paths: [${MODULES}]}
`,
);
const children = [];
try {
  const server = spawn(process.execPath, [join(ROOT, 'dist/server.mjs'), '-config', config], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(server);
  for await (const line of createInterface({ input: server.stdout })) if (line.includes('"ready"')) break;
  const { id: codebase_id } = await call('POST', '/v1/codebases', { name: 'app', owner_id: 'me' });
  const permissions = [{ pattern: '**', permission: 'PERMISSION_WRITE' }];
  const { id } = await call('POST', '/v1/sandboxes', { codebase_id, permissions });
  const sandbox = `/v1/sandboxes/${id}`;
  for (const [name, content] of Object.entries({ ...FILES, 'hostile/index.html': HOSTILE })) {
    const answer = await fetch(`${API}${sandbox}/files/${name}`, { method: 'PUT', body: content });
    if (!answer.ok) throw new Error(`${name}: ${answer.status} ${await answer.text()}`);
  }
  const vite = ['node', `${MODULES}/vite/bin/vite.js`, '--host', '127.0.0.1', '--port', String(PORT), '--strictPort'];
  await call('POST', `${sandbox}/processes`, { argv: vite });
  const plain = ['python3', '-m', 'http.server', '--bind', '127.0.0.1', '--directory', 'hostile', '8000'];
  await call('POST', `${sandbox}/processes`, { argv: plain });
  for (const port of [PORT, 8000]) await call('GET', `${sandbox}/ports?port=${port}&wait=60000`);
  const opened = await call('POST', `${sandbox}/ports`, { port: PORT, access: 'link' });
  await call('POST', `${sandbox}/ports`, { port: 8000 });

  const options = [
    '--headless=new',
    '--no-sandbox',
    '--disable-gpu',
    '--remote-debugging-port=0',
    `--user-data-dir=${directory}/u`,
  ];
  const browser = spawn('chromium', [...options, 'about:blank'], { stdio: ['ignore', 'ignore', 'pipe'] });
  children.push(browser);
  let port = '';
  for await (const line of createInterface({ input: browser.stderr })) {
    port = /DevTools listening on ws:\/\/127\.0\.0\.1:(\d+)\//.exec(line)?.[1] ?? '';
    if (port) break;
  }
  browser.stderr.resume();
  const tabs = /** @type {any[]} */ (await (await fetch(`http://127.0.0.1:${port}/json`)).json());
  const page = await tab(tabs.find(({ type }) => type === 'page').webSocketDebuggerUrl);

  const heading = async () => page.evaluate('document.querySelector("h1")?.textContent');
  await page.open(`${opened.url}?paddock_token=${opened.link_token}`);
  await eventually('the page is shown', async () => (await heading()) === 'one' || heading());
  await eventually('its style is applied', async () => {
    const color = await page.evaluate('getComputedStyle(document.querySelector("h1")).color');
    return color === 'rgb(1, 2, 3)' || color;
  });
  await eventually('its URL has no token', async () => {
    const url = await page.evaluate('location.href');
    return url === opened.url || url;
  });
  await page.evaluate('window.mark = 1');
  await call('POST', `${sandbox}/exec`, { command: 'sed -i s/one/two/ main.js' });
  await eventually('a change of a module is shown', async () => (await heading()) === 'two' || heading());
  await eventually('without loading the page again', async () => (await page.evaluate('window.mark')) === 1);

  await page.open(`${API}${sandbox}/ports/8000/proxy/`);
  await eventually('by path a page has an opaque origin, and its script gets nothing of the service', async () => {
    const title = await page.evaluate('document.title');
    const wanted = { origin: 'null', cookie: 'refused', api: 'refused', create: 'refused' };
    const tried = title?.startsWith('{') ? JSON.parse(title) : undefined;
    return (tried && Object.entries(wanted).every(([name, value]) => tried[name] === value)) || title;
  });
  page.close();
} finally {
  for (const child of children.reverse()) {
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
}
