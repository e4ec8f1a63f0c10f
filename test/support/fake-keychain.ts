import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Answers as `secret-tool`, `security` or PowerShell would, by the name that calls it. */
const program = String.raw`#!${process.execPath}
const { appendFileSync, existsSync, readFileSync, writeFileSync } = require('node:fs');
const { basename, dirname, join } = require('node:path');
const folder = dirname(process.argv[1]);
const args = process.argv.slice(2);
const stdin = readFileSync(0, 'utf8');
appendFileSync(join(folder, 'arguments.log'), JSON.stringify(args) + '\n');
const store = join(folder, 'entries.json');
const entries = existsSync(store) ? JSON.parse(readFileSync(store, 'utf8')) : {};
const save = (account, value) =>
  writeFileSync(store, JSON.stringify({ ...entries, [account]: value }));
const isLocked = existsSync(join(folder, 'locked'));
const after = (name) => args[args.indexOf(name) + 1];
const fromBase64 = (text) => Buffer.from(text, 'base64').toString('utf8');
if (isLocked) {
  process.stderr.write('Cannot get secret of a locked object\n');
  process.exit(1);
}
const programs = {
  'secret-tool'() {
    if (after('service') !== 'ktx') process.exit(9);
    if (args[0] === 'store') return save(after('account'), stdin);
    const value = entries[after('account')];
    if (value === undefined) process.exit(1);
    process.stdout.write(value);
  },
  security() {
    if (args[0] === '-i') {
      const line = /^add-generic-password -U -s ktx -a (\S+) -X ([\da-f]*)\n$/.exec(stdin);
      return save(line[1], Buffer.from(line[2], 'hex').toString('utf8'));
    }
    const value = entries[after('-a')];
    if (value === undefined || after('-s') !== 'ktx') process.exit(44);
    const hex = Buffer.from(value, 'utf8').toString('hex').toUpperCase();
    const shown = /^[ -~]*$/.test(value) ? '"' + value + '"' : '0x' + hex + '  "\\303"';
    process.stderr.write('keychain: "login"\npassword: ' + shown + '\n');
  },
  'powershell.exe'() {
    const script = Buffer.from(after('-EncodedCommand'), 'base64').toString('utf16le');
    const [account, value] = stdin.trim().split('\n').map(fromBase64);
    if (script.includes('.Add(')) return save(account, value);
    if (!script.includes("Retrieve('ktx', $account)")) process.exit(9);
    if (entries[account] === undefined) process.exit(44);
    process.stdout.write(Buffer.from(entries[account], 'utf8').toString('base64') + '\r\n');
  },
};
programs[basename(process.argv[1])]();
`;

const places: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  linux: 'secret-tool',
  darwin: 'security',
  win32: 'System32/WindowsPowerShell/v1.0/powershell.exe',
};

/** Writes the program of a platform below `folder`. Returns the folder that has it, and its log. */
export function fakeKeychain(folder: string, platform: NodeJS.Platform): string {
  const path = join(folder, places[platform] ?? '');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, program);
  chmodSync(path, 0o755);
  return dirname(path);
}
