/** What a command that agents type does: its exit code (a list: depends on what the machine has), and what it prints. */
export type Row = readonly [command: string, exit: number | readonly number[], sentence: RegExp];

const ABSENT = 127;
const READ_ONLY = /Permission denied|denied|Read-only|not permitted/;
const NO_NETWORK =
  /Could not resolve|resolve host|name resolution|unreachable|Network|network|EAI_AGAIN|ENOTCACHED|offline/;
const NOT_FOUND = /not found/;

/** A project in TypeScript and Python with a repository of git; LICENSE and docs are read-only, see `RULES`. */
export const FILES: Readonly<Record<string, string>> = {
  'package.json':
    '{"name": "sums", "type": "module", "scripts": {"test": "vitest run", "types": "tsc --noEmit", "hello": "node src/hello.js"}}\n',
  'package-lock.json': '{"name": "sums", "lockfileVersion": 3, "packages": {}}\n',
  'tsconfig.json':
    '{"compilerOptions": {"strict": true, "module": "esnext", "moduleResolution": "bundler", "target": "es2022", "lib": ["es2022"], "types": [], "skipLibCheck": true, "allowImportingTsExtensions": true, "noEmit": true}, "include": ["src"], "exclude": ["src/*.test.ts"]}\n',
  'src/add.ts': 'export const add = (a: number, b: number): number => a + b;\n',
  'src/hello.js': "console.log('hello from node');\n",
  'src/add.test.ts': [
    "import { expect, it } from 'vitest';",
    "import { add } from './add.ts';",
    "it('adds', () => expect(add(1, 2)).toBe(3));",
    '',
  ].join('\n'),
  'py/sums.py': 'def add(a, b):\n    return a + b\n',
  'py/test_sums.py':
    'import unittest\nfrom sums import add\n\nclass Adds(unittest.TestCase):\n    def test_adds(self):\n        self.assertEqual(add(1, 2), 3)\n',
  'hello.c': '#include <stdio.h>\nint main(void) { puts("hello from C"); return 0; }\n',
  Makefile: 'all:\n\t@echo made\n',
  LICENSE: 'MIT\n',
  'docs/guide.md': '# Guide\n',
  '.gitignore': 'node_modules\n.env\nkeys\n*.log\n',
  '.env': 'TOKEN=hidden-token\n',
  'keys/prod.pem': 'hidden-key\n',
};

/** LICENSE and docs can be read, keys are listed only, .env does not exist. */
export const RULES = [
  { pattern: '**', permission: 'PERMISSION_WRITE' },
  { pattern: 'LICENSE', permission: 'PERMISSION_READ' },
  { pattern: 'docs/**', permission: 'PERMISSION_READ' },
  { pattern: 'keys/*', permission: 'PERMISSION_VIEW' },
  { pattern: '.env', permission: 'PERMISSION_NONE' },
];

/** In order: each row sees what those before it have changed. */
export const ROWS: readonly Row[] = [
  // The repository.
  ['git status --short', 0, /^$/],
  ['git log --oneline', 0, /first/],
  ['git log', 0, /Author: .*\n.*Date:/],
  ['git show --stat HEAD', 0, /LICENSE/],
  ['git branch', 0, /\* main/],
  ['echo "export const two = 2;" >> src/add.ts && git diff', 0, /\+export const two = 2;/],
  ['git diff --stat', 0, /1 file changed, 1 insertion/],
  ['git add -A && git status --short', 0, /^M {2}src\/add.ts$/m],
  ['git commit -qm "Add two" && git log -1 --format=%s', 0, /^Add two$/m],
  ['git log -1 --format=%ae', 0, /^agent@sb_/],
  ['echo x >> src/add.ts && git stash && git stash pop', 0, /Dropped refs\/stash/],
  ['git checkout -- src/add.ts && git status --short', 0, /^$/],
  ['git checkout -b feature && git switch -q main && git merge feature', 0, /Already up to date/],
  ['git tag v1 && git describe', [0, 128], /v1|No annotated tags/],
  ['git grep -n "add" -- src', 0, /src\/add.ts:1:/],
  ['git blame LICENSE', 0, /MIT/],
  ['git rm -q docs/guide.md', [1, 128], READ_ONLY],
  ['git push', 128, /No configured push destination/],
  ['git clone https://example.com/a.git', 128, NO_NETWORK],
  ['git pull', 1, /no tracking information/],
  ['git ls-files | head -n 3', 0, /\.gitignore/],
  ['git clean -n', 0, /^$/],
  // Node and its tools.
  ['node src/hello.js', 0, /hello from node/],
  ["node -e \"console.log(require('fs').readFileSync('.env', 'utf8'))\"", 1, /ENOENT/],
  ['node -p "process.version"', 0, /^v\d+/],
  ['npm --version', [0, ABSENT], /\d+\.\d+|not found/],
  ['npm run hello', [0, ABSENT], /hello from node|not found/],
  ['ls node_modules/typescript/package.json', 0, /package.json/],
  ['node node_modules/typescript/bin/tsc --noEmit', 0, /^$/],
  ['node_modules/.bin/tsc --version', 0, /Version/],
  ['echo "const no: number = \'text\';" > src/wrong.ts; node_modules/.bin/tsc --noEmit', [1, 2], /wrong\.ts.*TS2322/],
  ['rm src/wrong.ts && node_modules/.bin/vitest run --root . src', 0, /1 passed/],
  // Python.
  ['python3 --version', 0, /Python 3/],
  ['python3 -c "print(open(\'LICENSE\').read())"', 0, /MIT/],
  ['python3 -c "open(\'.env\')"', 1, /FileNotFoundError/],
  ['python3 -c "open(\'keys/prod.pem\')"', 1, /PermissionError/],
  ['cd py && python3 -m unittest -q', 0, /OK/],
  ['python3 -m pytest py', [0, 1], /1 passed|No module named pytest/],
  ['pip install requests', [1, ABSENT], /No matching distribution|externally-managed|not found/],
  ['python3 -m venv --without-pip /tmp/venv && /tmp/venv/bin/python -c "print(6 * 7)"', [0, 1], /42|venv/],
  // Looking at files.
  ['ls', 0, /LICENSE\n.*Makefile/s],
  ['ls -la', 0, /keys/],
  ['ls -A | grep -c "^.env$"', 1, /^0$/m],
  ['ls -l keys', 0, /prod\.pem/],
  ['cat keys/prod.pem', 1, /Permission denied/],
  ['cat .env', 1, /No such file or directory/],
  ['stat -c %n keys/prod.pem', 0, /keys\/prod.pem/],
  ['find . -name "*.py" -not -path "./node_modules/*"', 0, /\.\/py\/sums\.py/],
  [
    'grep -rn hidden . --include="*" --exclude-dir=node_modules --exclude-dir=.git',
    [1, 2],
    /keys\/prod\.pem: Permission denied/,
  ],
  ['grep -rn "return a" py', 0, /py\/sums.py:2/],
  ['rg "return a" py', [0, ABSENT], /return a|not found/],
  ['head -n 1 py/sums.py; tail -n 1 py/sums.py; wc -l py/sums.py', 0, /def add.*2 py\/sums.py/s],
  ['sort LICENSE | uniq -c', 0, /1 MIT/],
  ['du -sh py; df -h .', 0, /Filesystem/],
  ['which python3; command -v git', 0, /git/],
  ['file LICENSE', [0, ABSENT], /ASCII|not found/],
  // Changing files.
  ['sed -i s/hello/bye/ src/hello.js && cat src/hello.js', 0, /bye from node/],
  ['sed -i s/MIT/GPL/ LICENSE', [1, 4], READ_ONLY],
  ['echo GPL > LICENSE', [1, 2], READ_ONLY],
  ['echo x > docs/new.md', [1, 2], READ_ONLY],
  ['echo TOKEN=mine > .env', [1, 2], READ_ONLY],
  ['mkdir docs/sub', 1, READ_ONLY],
  ['rm -f LICENSE', 1, READ_ONLY],
  ['mv keys k', 1, READ_ONLY],
  ['cp LICENSE copy && cat copy', 0, /MIT/],
  ['awk \'{print NR": "$0}\' py/sums.py', 0, /2: {5}return/],
  [
    'printf "%s\\n" "--- a/copy" "+++ b/copy" "@@ -1 +1 @@" -MIT +BSD | patch -p1 && cat copy',
    [0, ABSENT],
    /BSD|not found/,
  ],
  ['tar -cf /tmp/py.tar py && tar -tf /tmp/py.tar', 0, /py\/sums.py/],
  ['touch a b && mv a c && rm b c && ls a b c', 2, /No such file/],
  ['chmod +x src/hello.js && stat -c %A src/hello.js', 0, /^-rwx/],
  ['chmod 644 LICENSE', 1, READ_ONLY],
  ['chown root copy', 1, /not permitted|Invalid argument/],
  ['ln -s LICENSE link && cat link', 0, /MIT/],
  ['ln -s .env secret && cat secret', 1, /No such file/],
  ['ln LICENSE hard', 1, READ_ONLY],
  ['mkfifo pipe && (echo through > pipe &) && cat pipe', 0, /through/],
  ['mknod disk b 8 0', 1, /not permitted/],
  // Packages, without a network.
  ['npm install left-pad', [1, ABSENT], /npm: this sandbox has no network|not found/],
  ['npx --yes cowsay hi', [1, ABSENT], /ENOTCACHED|network|not found/],
  ['npm ci', [0, 1, ABSENT], /npm ci would empty node_modules|no network|not found/],
  // Building and system.
  ['make', [0, ABSENT], /made|not found/],
  ['gcc hello.c -o hello && ./hello', [0, ABSENT], /hello from C|not found/],
  ['sudo apt-get install -y jq', 1, /^sudo: this sandbox has no root user: run the command without sudo/],
  ['apt-get install -y jq', 100, /^apt-get: packages cannot be installed in this sandbox/],
  ['apt install jq', 100, /packages cannot be installed in this sandbox/],
  ['curl -sS https://example.com', [6, ABSENT], NO_NETWORK],
  ['wget -q -O - https://example.com', [4, ABSENT], /^|not found/],
  ['ssh -o BatchMode=yes git@example.com', [255, ABSENT], /resolve|not found/],
  ['docker ps', [1, ABSENT], /docker|not found/],
  ['crontab -l', [1, ABSENT], /crontab/],
  ['systemctl status', [1, 4, ABSENT], /systemd|bus|not found/i],
  ['mount -t tmpfs none /mnt', [1, 32, ABSENT], /permission denied|only root|superuser|not found/i],
  ['ps aux', [0, ABSENT], /PID|not found/],
  ['top -b -n 1', [0, 1, ABSENT], /PID|terminal|not found/],
  ['sleep 60 & kill $! && wait $!; echo ended', 0, /ended/],
  ['nohup sleep 0.1 > /dev/null 2>&1 & wait; echo done', 0, /done/],
  ['whoami; id -u; hostname; pwd', 0, /sandbox\n1000\nsandbox\n\/workspace/],
  ['echo $HOME && touch ~/.profile && echo kept', 0, /kept/],
  ['date +%Y; uname -s; nproc; env | sort | head -n 3', 0, /Linux/],
  ['touch /usr/bin/x', 1, READ_ONLY],
  ['cat /etc/shadow', 1, /No such file|Permission denied/],
  ['ls /workspace/../root', 2, /No such file|Permission denied/],
  ['jobs; ulimit -n; umask', 0, /\d/],
  ['nosuchcommand', ABSENT, NOT_FOUND],
  ['exit 3', 3, /^$/],
  ['kill -9 $$', 137, /^$/],
];
