import { describe, expect, it } from 'vitest';
import { REDACTORS, type Redactor } from '../../../lib/permissions/redactors.ts';
import { Placeholders } from '../../../lib/redaction/placeholders.ts';
import { type RedactedForm, redacting } from '../../../lib/redaction/redacted-form.ts';
import { redactorOf } from '../../../lib/redaction/redactor-of.ts';

const PLACEHOLDERS = new Placeholders(new Uint8Array(32).fill(7));
const HIDDEN = '# hidden\n';

function form(text: string | Buffer, redactor: Redactor): RedactedForm {
  const steps = redacting(Buffer.from(text as string), redactor, PLACEHOLDERS);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** The form with `<key>` in place of each placeholder. */
function shown(text: string, redactor: Redactor): string {
  const { bytes, replaced } = form(text, redactor);
  let result = bytes.toString();
  for (const { key, placeholder } of replaced) result = result.replace(placeholder, `<${key}>`);
  return result.replace(/pdk[a-z2-7]{24}/g, '<other>');
}

describe('dotenv', () => {
  it.each([
    ['A=1', 'A=<A>'],
    ['A=', 'A='],
    ['DEBUG=true\nX=no\nY=null', 'DEBUG=true\nX=no\nY=null'],
    ['export A = secret \r\nB=2\r\n', 'export A = <A>\r\nB=<B>\r\n'],
    ['A=\'single\'\nB="double"\nC=`back`', 'A=\'<A>\'\nB="<B>"\nC=`<C>`'],
    ['A="two\nlines"\nB=x', 'A="<A>"\nB=<B>'],
    ['A=value # comment', 'A=<A>'],
    ['A="value" # comment', 'A="<A>"'],
    ['A="x"tail', 'A="<A>"'],
    ['A="with \\" quote"', 'A="<A>"'],
    ['A: x', 'A: <A>'],
    ['# words\n\n#OLD=secret\n # B=c', '# words\n\n#OLD=<OLD>\n # B=<B>'],
    ['# used to be correct-horse\nPASSWORD=correct-horse', '# used to be <PASSWORD>\nPASSWORD=<other>'],
  ])('%j', (text, expected) => {
    expect(shown(text, 'dotenv')).toBe(expected);
  });

  it.each([
    'PORT=3000',
    'export DB_PORT="5432"',
    'REQUEST_TIMEOUT_MS=30000',
    'DEBUG=1',
    'NODE_ENV=production\r\nLOG_LEVEL=debug',
    'HOST=0.0.0.0',
    'API_URL=http://localhost:3000/api/v1',
    "DATABASE_URL='postgres://127.0.0.1:5432/app'",
    '#PORT=3000',
  ])('shows a value that cannot be a secret: %j', (text) => {
    expect(shown(text, 'dotenv')).toBe(text);
  });

  it.each([
    'PIN=1234',
    'A=1',
    'PORT=12345678',
    'PASSWORD=test',
    'AUTH_URL=http://localhost:3000',
    'SESSION_LIMIT=10',
    'DATABASE_URL=postgres://me:pw@localhost/app',
    'URL=http://localhost/?token=x',
    'URL=http://localhost/x7Gk2',
    'URL=http://localhost.example.com',
    'NODE_ENV=production # the old one was hunter2',
    'PORT="3000" x',
  ])('hides a value that is in doubt: %j', (text) => {
    expect(shown(text, 'dotenv')).toMatch(/^[A-Z_]+="?<[A-Z_]+>"?$/);
  });

  it('hides a plain value that is the value of a secret, too', () => {
    expect(shown('PASSWORD=production\nNODE_ENV=production', 'dotenv')).toBe('PASSWORD=<PASSWORD>\nNODE_ENV=<other>');
  });

  it('looks at each comment sign of a line once', () => {
    expect(shown(`A=${' #'.repeat(400_000)}\rx`, 'dotenv')).toBe('A= <A>');
  });

  it.each(['A="no end', 'no assignment', 'A=x\nMIIEvgIBADANBgkqhkiG/+', 'QWxhZGRpbg==', '=x', '1A=x'])(
    'hides %j',
    (text) => {
      expect(shown(text, 'dotenv')).toBe(HIDDEN);
    },
  );
});

describe('JSON', () => {
  it.each([
    ['{"a": "x", "b": [1, true, null]}', '{"a": "<a>", "b": ["<b.0>", true, null]}'],
    ['{"a": {"b": "x\\n"},}', '{"a": {"b": "<a.b>"},}'],
    ['// c\n{"a": /* d */ -1.5e3}', '// c\n{"a": /* d */ "<a>"}'],
    ['"x"', '"<>"'],
    ['{"true": "true"}', '{"true": "<true>"}'],
    ['{}', '{}'],
    ['{"sk_live_0123456789abcdef": true}', '{"sk_live_<other>": true}'],
  ])('%j', (text, expected) => {
    expect(shown(text, 'json')).toBe(expected);
  });

  it.each([
    '{',
    '{"a" "b"}',
    '{"a": "x"} y',
    '["a" "b"]',
    '{a: 1}',
    '{"a": "x',
    "{'a': 'b'}",
    '[1}',
    '/* x',
    '{"a":1}{"b":2}',
  ])('hides %j', (text) => {
    expect(shown(text, 'json')).toBe(HIDDEN);
  });
});

describe('YAML', () => {
  it.each([
    ['a: x # c\nb:\n  - 1\n  - true\n', 'a: <a> # c\nb:\n  - <b.0>\n  - true\n'],
    ['a: |\n  two\n  lines\nb: x\n', 'a: <a>\nb: <b>\n'],
    ['a: >- # c\n  folded\n\n  text\n', 'a: <a>\n'],
    ['a: plain\n  goes on\nb: y', 'a: <a>\nb: <b>'],
    ['a: \'x\'\n"b": "y"', 'a: \'<a>\'\n"b": "<b>"'],
    ['{a: x, b: [y, 2], "c": z}', '{a: <a>, b: [<b.0>, <b.1>], "c": <c>}'],
    ['a: &n x\nb: *n\n', 'a: &n <a>\nb: *n\n'],
    ['a: !t x\n---\nb: y\n...\n', 'a: !t <a>\n---\nb: <b>\n...\n'],
    ['? complex\n: v\n', '? <0>\n: <0>\n'],
    ['text alone', '<>'],
    ['a: -----BEGIN-----\nMIIEabc\n', 'a: <a>\n<1>\n'],
    ['two\nlines: x', '<0>: <0>'],
    ['# token sk_live_0123456789abcdef\na: ~', '# token sk_live_<other>\na: ~'],
  ])('%j', (text, expected) => {
    expect(shown(text, 'yaml')).toBe(expected);
  });

  it.each(['a: x: y', 'a: - x: y', '%x\n---\na: x', 'a: }', `${'- '.repeat(70_000)}x`, '- '.repeat(101)])(
    'hides %j',
    (text) => {
      expect(shown(text, 'yaml')).toBe(HIDDEN);
    },
  );

  it.each(['a: "x', 'a: [x', 'a: v\n  x: v', 'a:\n- x\n  x: |\n x'])(
    'shows no value of %j, which is not valid',
    (text) => {
      expect(shown(text, 'yaml').replace(/<[^>]*>/g, '')).not.toContain('x');
    },
  );
});

describe('PEM', () => {
  const block = (label: string, body: string) => `-----BEGIN ${label}-----\n${body}-----END ${label}-----\n`;
  const certificate = block('CERTIFICATE', 'MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJJ\n');

  it('hides what is between its lines, unless its label says that it is public', () => {
    const text = `# of the server\n${block('RSA PRIVATE KEY', 'MIIE\nabc=\n')}${block('X', 'y\n')}${certificate}`;
    const expected = `# of the server\n${block('RSA PRIVATE KEY', '<RSA PRIVATE KEY>\n')}${block('X', '<X>\n')}${certificate}`;
    expect(shown(text, 'pem')).toBe(expected);
  });

  it.each([
    ['nothing', ''],
    ['public things alone', `Issuer: somebody\n${certificate}\n# next\n${block('PUBLIC KEY', 'MIIB\n')}`],
    ['parameters', block('DH PARAMETERS', 'MIIB\n')],
  ])('shows %s as they are', (_, text) => {
    expect(shown(text, 'pem')).toBe(text);
  });

  it('hides a token in a comment', () => {
    expect(shown(`# ghp_0123456789abcdefghij\n${certificate}`, 'pem')).toMatch(/^# ghp_<|^# </);
  });

  it.each([
    'MIIE',
    '-----BEGIN A-----\nx\n',
    '-----BEGIN A-----\nx\n-----END B-----\n',
    '-----BEGIN A-----\nx\n-----END A-----\ny',
    `privateExponent:\n    00:ab\n${certificate}`,
  ])('hides %j', (text) => {
    expect(shown(text, 'pem')).toBe(HIDDEN);
  });
});

describe('ini', () => {
  it.each([
    ['ignore-scripts=true\nregistry=https://r.example/\n', 'ignore-scripts=true\nregistry=https://r.example/\n'],
    [
      '//r.example/:_authToken=abc\n//r.example/:username = u\n',
      '//r.example/:_authToken=<//r.example/:_authToken>\n//r.example/:username = u\n',
    ],
    ['//r.example/:_authToken=$NPM_TOKEN\n', '//r.example/:_authToken=$NPM_TOKEN\n'],
    ['registry=https://u:pw@r.example/\n', 'registry=<registry>\n'],
    ['; _password=x\n# words only\n', '; _password=<_password>\n# words only\n'],
    ['[pypi]\nusername: __token__\npassword: x\n', '[pypi]\nusername: __token__\npassword: <pypi.password>\n'],
    ['key="a\n  b\n"\nca=x\n', 'key=<key>\n<>\nca=x\n'],
    ['save-exact\nhunter 2\n', 'save-exact\n<>\n'],
    ['[a]\npassword =\n    x\nname =\n    y z=1\n', '[a]\npassword =\n    <a.password>\nname =\n    y z=1\n'],
    [
      'nodeLinker: x\nnpmScopes:\n  a:\n    npmAuthToken: x\n    on: 1\n',
      'nodeLinker: x\nnpmScopes:\n  a:\n    npmAuthToken: <npmAuthToken>\n    on: 1\n',
    ],
  ])('hides the values of names of secrets in %j', (text, expected) => {
    expect(shown(text, 'ini')).toBe(expected);
  });
});

describe('netrc', () => {
  it('hides what is used to log in', () => {
    const text = 'machine a.example login me password "p w"\n# words\ndefault login x password y\n';
    expect(shown(text, 'netrc')).toBe(
      'machine a.example login <a.example.login> password <a.example.password>\n# words\ndefault login <default.login> password <default.password>\n',
    );
    expect(form('machine a\nmacdef init\nquit\n', 'netrc').isHidden).toBe(true);
  });
});

describe('tokens', () => {
  it('hides what looks like a token, and shows all else', () => {
    const text =
      'FOO=env\nKEY=sk_live_0123456789abcdef\nURL=http://u:p@h/\nDB=postgres://localhost/x\nPASSWORD=changeme\n';
    const hidden = form(text, 'tokens');
    expect(hidden.bytes.toString().replace(/[\w]*pdk[a-z2-7]{24}/g, '<token>')).toBe(
      'FOO=env\nKEY=<token>\nURL=<token>\nDB=postgres://localhost/x\nPASSWORD=changeme\n',
    );
  });

  const BODY = `${'MHcCAQEEIBa1'.repeat(5)}MHcC\nAwEHoUQD\n`;
  const KEY = `-----BEGIN EC PRIVATE KEY-----\n${BODY}-----END EC PRIVATE KEY-----\n`;
  it.each([
    ['in lines', KEY, /BEGIN EC PRIVATE KEY-----\n<EC PRIVATE KEY>\n-----END/],
    ['of few characters', '-----BEGIN X-----\nMHc\n-----END X-----\n', /BEGIN X-----\n<X>\n-----END/],
    ['in JSON', JSON.stringify({ key: KEY }), /^{"key":"-----BEGIN EC PRIVATE KEY-----<EC PRIVATE KEY>-----END/],
    ['with an indent', KEY.replace(/^/gm, '    '), /KEY-----\n<EC PRIVATE KEY>\n {4}-----END/],
    ['behind a byte-order mark', `\ufeff${KEY}`, /<EC PRIVATE KEY>/],
    ['in a program', `k = "${KEY.replaceAll('\n', '\\n" +\n"')}"`, /<EC PRIVATE KEY>/],
    ['of SSH2', KEY.replaceAll('-----', '----').replace(/(----)(BEGIN|END)/g, '$1 $2'), /<EC PRIVATE KEY>/],
    ['between marks of a certificate', `-----BEGIN CERTIFICATE-----\n${KEY}-----END CERTIFICATE-----\n`, /<EC PRI/],
    ['without an end', JSON.stringify(`-----BEGIN PRIVATE KEY-----\n${BODY}`), /^# hidden/],
    ['without its marks', JSON.stringify(BODY), /^"/],
  ])('hides a key %s', (_, text, expected) => {
    expect(shown(text, 'tokens')).toMatch(expected);
    expect(shown(text, 'tokens')).not.toContain('MHc');
  });

  it.each([
    'const [begin, end] = ["-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"];\n',
    'if (text.startsWith("-----BEGIN PRIVATE KEY-----")) return parsePrivateKeyOf(text);\n',
    KEY.replaceAll('EC PRIVATE KEY', 'CERTIFICATE'),
  ])('shows %j', (text) => {
    expect(shown(text, 'tokens')).toBe(text);
  });
});

describe('a placeholder', () => {
  const placeholder = (value: string) => PLACEHOLDERS.of(value);

  it('is the same for the same value, whatever the format, and keeps the prefix of a token', () => {
    expect(placeholder('sk_live_0123456789abcdef')).toMatch(/^sk_live_pdk[a-z2-7]{24}$/);
    expect(placeholder('AKIAIOSFODNN7EXAMPLE')).toMatch(/^AKIApdk/);
    const [dotenv] = form('A="x\\ny"', 'dotenv').replaced;
    const [json] = form('{"b": "x\\ny"}', 'json').replaced;
    expect(dotenv?.placeholder).toBe(json?.placeholder);
  });

  it('shows no prefix that may be the whole value, no length, and differs between sandboxes', () => {
    expect(placeholder('sk_live_short')).toMatch(/^pdk/);
    expect(placeholder('a')).toHaveLength(placeholder('a'.repeat(1000)).length);
    expect(new Placeholders(new Uint8Array(32)).of('a')).not.toBe(placeholder('a'));
  });
});

describe('a file', () => {
  it.each([
    ['.env', 'dotenv'],
    ['.env.production', 'dotenv'],
    ['prod.env', 'dotenv'],
    ['a.json', 'json'],
    ['a.yml', 'yaml'],
    ['id_ed25519', 'pem'],
    ['server.key', 'pem'],
    ['.npmrc', 'ini'],
    ['.netrc', 'netrc'],
    ['.dockercfg', 'json'],
    ['.vault-token', 'all'],
    ['notes.txt', 'all'],
  ] as const)('%s is read as %s', (name, redactor) => {
    expect(redactorOf(name)).toBe(redactor);
  });

  it('is shown if it is empty', () => {
    expect(REDACTORS.map((redactor) => shown('', redactor)).join('')).toBe('');
  });

  it('is hidden as a whole if it is too large, not UTF-8, or too deep', () => {
    expect(form(`A=${'x'.repeat(1 << 20)}`, 'dotenv').isHidden).toBe(true);
    expect(form(Buffer.from([0x41, 0x3d, 0xff]), 'dotenv').isHidden).toBe(true);
    expect(form('['.repeat(10_000), 'json').isHidden).toBe(true);
    expect(form('- '.repeat(100_000), 'yaml').isHidden).toBe(true);
    expect(form('A=x', 'all').bytes.toString()).toBe(HIDDEN);
  });
});
