import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { HostEnvironment } from './secrets.ts';

/** The only service whose entries ktx reads and writes. */
export const keychainService = 'ktx';

/** The keychain of the machine. Its program is started without a shell; no argument is secret. */
export interface Keychain {
  /** As a person knows it. */
  readonly title: string;
  /** True if the program is there and answers that it has no such entry. */
  isUsable(): boolean;
  read(account: string): KeychainAnswer;
  /** Replaces the entry. The account has letters, digits, `_` and `-` only. */
  write(account: string, value: string): KeychainAnswer;
}

type KeychainAnswer =
  | { readonly kind: 'done'; readonly value: string }
  | { readonly kind: 'missing' }
  /** The program is not there, or failed. */
  | { readonly kind: 'failed'; readonly reason: string };

interface ProgramCall {
  readonly args: readonly string[];
  /** What it reads from standard input. */
  readonly input?: string;
}

/** How one system keeps secrets. */
interface KeychainProgram {
  readonly title: string;
  readonly command: string;
  readonly read: (account: string) => ProgramCall;
  readonly write: (account: string, value: string) => ProgramCall;
  readonly valueOf: (output: ProgramOutput) => string;
  readonly isMissing: (output: ProgramOutput) => boolean;
}

interface ProgramOutput {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface KeychainMachine {
  readonly platform: NodeJS.Platform;
  readonly env: HostEnvironment;
}

export function openKeychain(
  machine: KeychainMachine = { platform: process.platform, env: process.env },
): Keychain {
  const program = programOf(machine);
  const { title, command, isMissing, valueOf } = program;
  const ask = ({ args, input = '' }: ProgramCall): KeychainAnswer => {
    const { error, ...output } = spawnSync(command, args, {
      encoding: 'utf8',
      input,
      timeout: 60_000,
      env: { ...machine.env },
    });
    if (error !== undefined) {
      const isThere = (error as NodeJS.ErrnoException).code !== 'ENOENT';
      const reason = isThere ? 'the keychain does not answer' : `this machine has no ${command}`;
      return { kind: 'failed', reason };
    }
    if (output.status === 0) return { kind: 'done', value: valueOf(output) };
    if (isMissing(output)) return { kind: 'missing' };
    const [line = ''] = output.stderr.trim().split('\n');
    return { kind: 'failed', reason: line || 'the keychain is locked, or refuses' };
  };
  const read = (account: string) => ask(program.read(account));
  return {
    title,
    read,
    isUsable: () => read(`none-${randomUUID()}`).kind === 'missing',
    write: (account, value) => ask(program.write(account, value)),
  };
}

function programOf({ platform, env }: KeychainMachine): KeychainProgram {
  if (platform === 'darwin') return macKeychain;
  if (platform === 'win32') return windowsVault(env['SystemRoot'] ?? 'C:\\Windows');
  return secretService;
}

const secretService: KeychainProgram = {
  title: 'the keyring of this machine (Secret Service)',
  command: 'secret-tool',
  read: (account) => ({ args: ['lookup', 'service', keychainService, 'account', account] }),
  write: (account, input) => ({
    args: [
      'store',
      '--label',
      `${keychainService}: ${account}`,
      'service',
      keychainService,
      'account',
      account,
    ],
    input,
  }),
  valueOf: ({ stdout }) => stdout.replace(/\n$/, ''),
  // It says nothing about an entry that is not there, and a sentence about everything else.
  isMissing: ({ status, stderr }) => status === 1 && stderr.trim() === '',
};

const macKeychain: KeychainProgram = {
  title: 'the macOS keychain',
  command: 'security',
  read: (account) => ({
    args: ['find-generic-password', '-s', keychainService, '-a', account, '-g'],
  }),
  write: (account, value) => ({
    args: ['-i'],
    // A command per line. In hexadecimal digits, no character of the value can end it.
    input: `add-generic-password -U -s ${keychainService} -a ${account} -X ${hexOf(value)}\n`,
  }),
  valueOf: ({ stderr }) => {
    const [, hex, text = ''] = /^password: (?:0x([\dA-F]+)|"(.*)"$)/m.exec(stderr) ?? [];
    return hex === undefined ? text : Buffer.from(hex, 'hex').toString('utf8');
  },
  // errSecItemNotFound
  isMissing: ({ status }) => status === 44,
};

const hexOf = (text: string): string => Buffer.from(text, 'utf8').toString('hex');
const base64Of = (text: string): string => Buffer.from(text, 'utf8').toString('base64');

/**
 * The vault behind the Credential Manager, by the PowerShell that is part of Windows. Its full path
 * is used, because Windows looks for programs in the current folder first.
 */
function windowsVault(systemRoot: string): KeychainProgram {
  const run = (script: string, lines: readonly string[]): ProgramCall => ({
    args: [
      '-NoProfile',
      '-NonInteractive',
      '-EncodedCommand',
      Buffer.from(`${vaultStart}\n${script}`, 'utf16le').toString('base64'),
    ],
    input: lines.map((line) => `${base64Of(line)}\n`).join(''),
  });
  return {
    title: 'the Windows Credential Manager',
    command: join(systemRoot, 'System32', 'WindowsPowerShell', 'v1.0', 'powershell.exe'),
    read: (account) => run(vaultRead, [account]),
    write: (account, value) => run(vaultWrite, [account, value]),
    valueOf: ({ stdout }) => Buffer.from(stdout.trim(), 'base64').toString('utf8'),
    isMissing: ({ status }) => status === 44,
  };
}

const vaultNames = 'Windows.Security.Credentials';

const vaultStart = `$ErrorActionPreference = 'Stop'
function Line {
  $bytes = [Convert]::FromBase64String([Console]::In.ReadLine())
  [Text.Encoding]::UTF8.GetString($bytes)
}
[void][${vaultNames}.PasswordVault,${vaultNames},ContentType=WindowsRuntime]
$vault = New-Object ${vaultNames}.PasswordVault
$account = Line`;

const vaultRead = `try { $entry = $vault.Retrieve('${keychainService}', $account) } catch { exit 44 }
$entry.RetrievePassword()
[Convert]::ToBase64String([Text.Encoding]::UTF8.GetBytes($entry.Password))`;

const vaultWrite = `$values = @('${keychainService}', $account, (Line))
$entry = New-Object ${vaultNames}.PasswordCredential -ArgumentList $values
$vault.Add($entry)`;
