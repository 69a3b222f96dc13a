#!/bin/sh
# What the developer types. The number of a step is that of the promise in the list of the first day.
set -eu

step() { printf '\n== %s (%s s)\n' "$*" "$(($(date +%s) - began))"; }
fail() {
  printf 'first-day: %s\n' "$*" >&2
  exit 1
}
# expect TEXT COMMAND...: its output, also that of errors, has the text.
expect() {
  wanted=$1
  shift
  said=$("$@" 2>&1) || true
  case $said in
  *"$wanted"*) ;;
  *) fail "$* should say \"$wanted\", and said: $said" ;;
  esac
}
began=$(date +%s)
export PAGER=cat GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.com GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@example.com

# Her project, and her tools.
mkdir -p ~/shop/src ~/shop/secrets ~/shop/node_modules/left/test ~/.cargo/bin ~/.local/bin
cd ~/shop
seq -f 'v%g = 1' 1 40 >src/total.py
echo 'STRIPE_KEY=sk_live_51HxQm9vN2aaaaaaaaaaaaaaaa' >.env
echo 'ignore-scripts=true' >.npmrc
echo key >secrets/key
echo '{"name": "left", "version": "1.0.0"}' >node_modules/left/package.json
printf -- '-----BEGIN PRIVATE KEY-----\nTUlJ\n-----END PRIVATE KEY-----\n' >node_modules/left/test/key.pem
printf 'secrets\nnode_modules\n.venv\n.env\n*.log\n' >.gitignore
python3 -m venv .venv
git init -q -b main && git add -A && git commit -qm first
printf '#!/bin/sh\necho cargo of ada\n' >~/.cargo/bin/cargo && chmod +x ~/.cargo/bin/cargo

step '4, 15: installed from a package, no root: doctor finds nothing missing'
paddock doctor || fail 'doctor'

step '12: the local server is for this user, on loopback'
paddock server start >/dev/null
expect 127.0.0.1 paddock server status

step '1: the default preset: a virtualenv, certificates, settings without a token, keys of packages; a secret has a placeholder'
paddock run --from . -- sh -ec 'python3 -m venv /tmp/v; /tmp/v/bin/python -c "import ssl, pip._vendor.certifi as c; open(c.where()).read()"
  grep -q ignore-scripts .npmrc; grep -q TUlJ node_modules/left/test/key.pem; ! grep -q 51HxQm9vN2 .env; grep -q STRIPE_KEY .env; git status --porcelain' >/tmp/said
[ "$(cat /tmp/said)" = '' ] || fail "git status in the sandbox: $(cat /tmp/said)"
rm /tmp/said
expect 'refused by the rules: secrets (none secrets/**)' paddock run --from . --rule 'none:secrets/**' -- sh -c 'cat secrets/key; true'

step '6, 7: her tools, and the path of her project'
expect 'cargo of ada' paddock run --from . -- cargo
expect "$PWD" paddock run --from . -- pwd
expect "$PWD/.venv" paddock run --from . -- .venv/bin/python -c 'import sys; print(sys.prefix)'

step '2: a review without noise, and one hunk of two'
python3 /usr/local/bin/answer.py "paddock run --from . -- sh -c \"sed -i -e '1s/.*/v1 = one/' -e '40s/.*/v40 = last/' src/total.py
  mkdir node_modules/more; echo x > node_modules/more/x; echo y > debug.log; echo z > notes.txt\"" e h y n n >/tmp/review
grep -q 'Take these 2 changes' /tmp/review || fail "the review: $(cat /tmp/review)"
grep -q 'v1 = one' src/total.py && ! grep -q 'v40 = last' src/total.py && [ ! -e notes.txt ] || fail 'the accepted hunk'
printf 'first-day: from the account to the first accepted hunk: %s s\n' "$(($(date +%s) - began))"
rm /tmp/review
git commit -qam 'one hunk'

step '11: the second run sends what changed'
echo '# later' >>src/total.py
expect '# later' paddock run --from . -- tail -n 1 src/total.py

step '13: commits of an agent come home as a branch'
paddock run --from . --apply all -- sh -ec 'echo "# agent" >> src/total.py; git -c user.name=a -c user.email=a@b commit -qam "by the agent"'
expect 'by the agent' git log --format=%s --branches='paddock/*'
git checkout -q -- src/total.py 2>/dev/null || true

step '5: her settings and those of the project, with their sources'
mkdir -p ~/.config/paddock
echo 'sandbox: {max_per_user: 7}' >~/.config/paddock/server.yaml
echo 'rules: [none:secrets/**]' >.paddock.yaml
expect .config/paddock/server.yaml paddock config show
expect .paddock.yaml paddock config show
expect 'No such file' paddock run --from . -- ls secrets/key
rm .paddock.yaml ~/.config/paddock/server.yaml

step '8: durations have a unit'
expect 'ms' paddock run --from . --timeout 5 -- true

step '9: an agent of her own, in one line'
mkdir -p ~/.config/paddock/agents
printf '#!/bin/sh\necho "agent in $PWD: $*"; case $FAKE_API_KEY in *0123456789*) echo the real key;; esac\n' >~/.local/bin/fake
chmod +x ~/.local/bin/fake
printf 'command: fake\ninstall: npm install -g fake\nkeys: [{variable: FAKE_API_KEY, shape: sk-, header: authorization, hosts: [api.model.example]}]\n' >~/.config/paddock/agents/fake.yaml
said=$(PATH=$HOME/.local/bin:$PATH FAKE_API_KEY=sk-0123456789abcdefgh paddock run --from . --agent fake -- hello 2>/tmp/agent.err) || fail "the agent: $(cat /tmp/agent.err)"
[ "$said" = "agent in $PWD: hello" ] || fail "the agent said: $said"

step '10: MCP says what it is'
mkfifo /tmp/requests
exec 3<>/tmp/requests
paddock mcp --from . --rule 'write:src/**' </tmp/requests >/tmp/answers 2>&1 3>&- &
printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' >&3
tries=0
until grep -q 'instructions.*src/' /tmp/answers; do
  tries=$((tries + 1))
  [ "$tries" -lt 150 ] || fail "MCP answered: $(cat /tmp/answers)"
  sleep 0.2
done
exec 3>&-
wait
rm /tmp/requests /tmp/answers

step '14: the command line: a limit of time, names, guesses'
paddock run --from . --timeout 1s -- sleep 60 && fail 'the command was not ended' || [ $? -gt 1 ] || fail 'the code of a timeout'
expect run paddock rnu
expect 'Network and secrets' paddock help
paddock create --name desk >/dev/null
expect desk paddock ls
paddock rm desk >/dev/null

step '16, 17: documentation by task'
[ -f /usr/lib/paddock/docs/index.md ] && [ -f /usr/lib/paddock/docs/how-to/first-run.md ] || fail 'no documentation'
paddock server stop
