// An agent starts a web server in its sandbox, and a person looks at it. Put a real model in place of `script`.
import { createInterface } from 'node:readline/promises';
import { Sandbox } from 'paddock-sandbox';

/** What the model asks for: a command that ends, or a server that goes on. */
type Step = { run: string } | { serve: string; port: number };

const PAGE = '<h1>$(cat title.txt)</h1>';
const script: Step[] = [
  { run: `mkdir site && echo 'Made in a sandbox' > title.txt && echo "${PAGE}" > site/index.html` },
  { serve: 'python3 -m http.server 8000 --bind 127.0.0.1 --directory site', port: 8000 },
  { run: 'curl -sS --max-time 5 http://127.0.0.1:8000/ && curl -sS --max-time 5 https://example.com/' },
];

// No network: what the sandbox serves can be reached from here, and nothing from there.
await using sandbox = await Sandbox.create({ labels: { example: 'web-server' }, rules: { write: ['**'] } });

/** Starts a server, and opens its port for an hour to whoever has the link. */
async function serve(command: string, port: number): Promise<string> {
  await sandbox.start(command);
  await sandbox.ports.wait(port, { timeout: '20s' });
  const { link } = await sandbox.ports.open(port, { access: 'link', expiresIn: '1h' });
  return link;
}

const links: string[] = [];
for (const step of script) {
  if ('run' in step) {
    const { output, exitCode } = await sandbox.run(step.run, { timeout: '1m', merge: true });
    console.log(`$ ${step.run}\n${output}[exit code ${exitCode}]`);
  } else {
    links.push(await serve(step.serve, step.port));
    console.log(`$ ${step.serve} &\nopen in a browser: ${links.at(-1)}`);
  }
}

for (const link of links) {
  const page = await fetch(link);
  console.log(`${page.status} ${page.headers.get('content-type')}: ${(await page.text()).trim()}`);
}

// The link ends with the sandbox.
if (process.stdin.isTTY) {
  const terminal = createInterface(process.stdin, process.stdout);
  await terminal.question('Enter ends the sandbox. ');
  terminal.close();
}
