import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const files = (directory, contents) => {
  for (const [path, text] of Object.entries(contents)) {
    mkdirSync(join(directory, path, '..'), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
};
/** @returns {import('node:child_process').ExecFileSyncOptions} */
const at = (directory, env = {}) => ({ cwd: directory, stdio: ['ignore', 2, 2], env: { ...process.env, ...env } });

const GO_TEST = `package plus

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPlus(t *testing.T) {
	if diff := cmp.Diff(3, Plus(1, 2)); diff != "" {
		t.Fatal(diff)
	}
}
`;

export const go = {
  prepare(directory) {
    files(directory, {
      'go.mod': 'module example.com/plus\n\ngo 1.20\n',
      'plus.go': 'package plus\n\nfunc Plus(a, b int) int { return a + b }\n',
      'plus_test.go': GO_TEST,
    });
    const modules = { GOMODCACHE: join(directory, 'mirror'), GOFLAGS: '-mod=mod -modcacherw', GOTOOLCHAIN: 'local' };
    execFileSync('go', ['mod', 'tidy'], at(directory, modules));
  },
  env: { GOPROXY: 'file://$PWD/mirror/cache/download', GOSUMDB: 'off', GOTOOLCHAIN: 'local', GOFLAGS: '-modcacherw' },
  steps: [
    ['go vet', 'go vet ./...'],
    ['go build', 'go build ./...'],
    ['go test', 'go test -count=1 -v ./...'],
    ['go mod verify', 'go mod verify'],
  ],
  installed: ['go.mod', 'go.sum'],
};

const VENDORED = '[source.crates-io]\nreplace-with = "vendored"\n\n[source.vendored]\ndirectory = "mirror"\n';

export const cargo = {
  prepare(directory) {
    files(directory, {
      'Cargo.toml':
        '[package]\nname = "plus"\nversion = "0.1.0"\nedition = "2021"\n\n[dependencies]\nitoa = "1"\nserde_json = "1"\n',
      'src/lib.rs': 'pub fn plus(a: i32, b: i32) -> String { itoa::Buffer::new().format(a + b).to_owned() }\n',
      'tests/plus.rs':
        '#[test]\nfn adds() { assert_eq!(plus::plus(1, 2), "3"); }\n\n#[test]\nfn parses() { assert!(serde_json::from_str::<Vec<u8>>("[1]").is_ok()); }\n',
    });
    execFileSync('cargo', ['vendor', '-q', 'mirror'], at(directory));
    files(directory, { '.cargo/config.toml': VENDORED });
  },
  env: { CARGO_HOME: '$HOME/.cargo' },
  steps: [
    ['cargo build', 'cargo build --offline'],
    ['cargo test', 'cargo test --offline'],
  ],
  installed: ['Cargo.lock', 'src', 'mirror'],
};
