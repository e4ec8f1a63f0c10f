import { scryptSync } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import { sha256 } from '../../lib/hash.ts';
import { canonicalJson } from '../../lib/json.ts';
import { readConfinedFileSync } from '../../store/confined-file.ts';
import {
  isInside,
  isSecretFolder,
  isSecretReference,
  readProjectValue,
  realPath,
  secretFilePath,
  splitReference,
  type SecretSources,
} from '../../store/secrets.ts';
import { describeAddress } from './address.ts';
import type { Effect } from './effect.ts';

/** What one entry of the configuration does, as one decision of a person. */
export interface Grant {
  /**
   * Where it is written: `connection warehouse`. Not part of the identity: a renamed entry does the
   * same.
   */
  readonly place: string;
  readonly effects: readonly Effect[];
  /** Equal for equal effects. */
  readonly id: string;
  /** Values that the project supplies and that the effects show; secrets are read later. */
  readonly known: ReadonlyMap<string, string>;
  /** Real paths of secret files outside of the project. */
  readonly files: ReadonlySet<string>;
  /**
   * True if the project's own `.env` or files decide an address, and a secret of this machine would
   * go there.
   */
  readonly sendsSecretToProjectAddress: boolean;
}

/** Collects what one entry reaches. */
export interface GrantDraft {
  setting(name: string, value: unknown): void;
  /** A host, or a text that contains one; may be a reference. `port` is added to a bare host. */
  address(name: string, text: string, port?: number): void;
  path(name: string, path: string): void;
  secret(name: string, reference: string): void;
  /** A literal, or a reference to a secret. */
  value(name: string, text: string): void;
  /** A variable of a program, as `value`. */
  variable(name: string, text: string): void;
  program(command: string, args: readonly string[]): void;
  effect(effect: Effect): void;
  /** Undefined if the entry stays inside the project. */
  finish(place: string): Grant | undefined;
}

interface DraftState {
  readonly sources: SecretSources;
  readonly effects: Effect[];
  readonly known: Map<string, string>;
  readonly files: Set<string>;
  hasProjectAddress: boolean;
  hasOwnSecret: boolean;
}

export function draftGrant(sources: SecretSources): GrantDraft {
  const state: DraftState = {
    sources,
    effects: [],
    known: new Map(),
    files: new Set(),
    hasProjectAddress: false,
    hasOwnSecret: false,
  };
  return {
    effect: (effect) => void state.effects.push(effect),
    setting: (name, value) => addSetting(state, name, value),
    secret: (name, reference) => addSecret(state, name, reference),
    address: (name, text, port) => addAddress(state, { name, text, port }),
    path(name, path) {
      addSetting(state, name, path);
      const real = realPath(resolve(sources.projectDir, beforeGlob(path)));
      const project = realPath(sources.projectDir);
      if (real !== project && !isInside(real, project))
        state.effects.push({ kind: 'path', text: real });
    },
    value: (name, text) => addValue(state, name, text),
    variable: (name, text) => addVariable(state, name, text),
    program: (command, args) => addProgram(state, command, args),
    finish: (place) => finishGrant(state, place),
  };
}

/** The value that the project itself supplies; kept, so that what is shown is what is used. */
function projectValue({ known, sources }: DraftState, reference: string): string | undefined {
  const value = known.get(reference) ?? readProjectValue(reference, sources);
  if (value !== undefined) known.set(reference, value);
  return value;
}

function addSetting(state: DraftState, name: string, value: unknown): void {
  const text = typeof value === 'string' ? value : canonicalJson(value);
  state.effects.push({ kind: 'setting', text: `${name}: ${text}` });
  const supplied = isSecretReference(text) ? projectValue(state, text) : undefined;
  if (supplied !== undefined)
    state.effects.push({ kind: 'setting', text: `${text} is ${supplied}` });
}

function addSecret(state: DraftState, name: string, reference: string): void {
  const { sources, effects, files } = state;
  effects.push({ kind: 'secret', text: `${reference} (${name})` });
  state.hasOwnSecret ||= readProjectValue(reference, sources) === undefined;
  if (splitReference(reference)[0] !== 'file') return;
  const path = secretFilePath(reference, sources.projectDir);
  if (isSecretFolder(path, sources)) return;
  files.add(path);
  effects.push({ kind: 'path', text: path });
}

interface NamedAddress {
  readonly name: string;
  readonly text: string;
  readonly port?: number | undefined;
}

function addAddress(state: DraftState, { name, text, port }: NamedAddress): void {
  const { effects } = state;
  if (!isSecretReference(text) || text.startsWith('file://'))
    return void effects.push(...describeAddress(name, text, port));
  const supplied = projectValue(state, text);
  if (supplied === undefined) {
    effects.push({ kind: 'host', text: `the address that ${text} names on this machine` });
    return addSecret(state, name, text);
  }
  state.hasProjectAddress = true;
  effects.push({ kind: 'setting', text: `${name}: ${text}` });
  effects.push(...describeAddress(text, supplied, port));
}

function addValue(state: DraftState, name: string, text: string): void {
  const { effects } = state;
  if (!isSecretReference(text))
    return void effects.push({ kind: 'setting', text: `${name}: ${text}` });
  addSecret(state, name, text);
  if (!secretName.test(name)) addFingerprint(state, text);
}

/**
 * Any name counts: an option decides what a program runs, and a token decides whose account it
 * writes to.
 */
function addVariable(state: DraftState, name: string, text: string): void {
  addValue(state, name, text);
  if (isSecretReference(text) && secretName.test(name)) addFingerprint(state, text);
}

/** What the project supplies for the reference, so that another value is another approval. */
function addFingerprint(state: DraftState, reference: string): void {
  const supplied = projectValue(state, reference);
  if (supplied === undefined) return;
  const text = `${reference} has the fingerprint ${fingerprint(supplied)}`;
  state.effects.push({ kind: 'setting', text });
}

const fingerprints = new Map<string, string>();

/**
 * Slow to compute, because it is shown and stored: nobody should find a short password by trying.
 */
function fingerprint(value: string): string {
  const known = fingerprints.get(value) ?? scryptSync(value, 'ktx trust', 16).toString('hex');
  fingerprints.set(value, known);
  return known;
}

function addProgram({ effects, sources }: DraftState, command: string, args: readonly string[]) {
  effects.push({ kind: 'program', text: [command, ...args].map(quoteArgument).join(' ') });
  const words = new Set([command, ...args].flatMap(pathsInArgument));
  for (const word of words) {
    const hash = hashProjectFile(word, sources.projectDir);
    if (hash !== undefined)
      effects.push({ kind: 'setting', text: `${word} has the SHA-256 ${hash}` });
  }
}

/**
 * An argument, and the parts of it that can be paths: `--import=./start.mjs`, `node ./start.mjs &&
 * true`.
 */
function pathsInArgument(argument: string): readonly string[] {
  const parts = argument.slice(0, longestArgument).split(/[\s=:,;|&<>()'"`$@]+/);
  return [argument, ...parts.filter((part) => part !== '').slice(0, mostParts)];
}

const longestArgument = 20_000;
const mostParts = 1000;

function finishGrant(state: DraftState, place: string): Grant | undefined {
  const { effects, known, files, hasProjectAddress, hasOwnSecret } = state;
  if (effects.every(({ kind }) => kind === 'setting')) return undefined;
  const texts = effects.map(({ kind, text }) => canonicalJson([kind, text]));
  const id = sha256(canonicalJson(texts.sort()));
  const sendsSecretToProjectAddress = hasProjectAddress && hasOwnSecret;
  return { place, effects, id, known, files, sendsSecretToProjectAddress };
}

/** Names of headers and variables that hold secrets. */
const secretName = /key|token|secret|passw|auth|credential|cookie|session/i;

/** The folder that a path with `*` starts from; any other path as it is. */
function beforeGlob(path: string): string {
  const start = path.search(/[*?[{]/);
  return start === -1 ? path : dirname(`${path.slice(0, start)}x`);
}

/** As a shell takes it, so that the parts of a command can be told apart. */
function quoteArgument(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word);
}

/** In bytes. */
const largestProgram = 50_000_000;

/**
 * The hash of a file of the project: its author can change what the approved command runs.
 * Undefined for anything else.
 */
function hashProjectFile(word: string, projectDir: string): string | undefined {
  const path = realPath(resolve(projectDir, word));
  if (!isInside(path, realPath(projectDir))) return undefined;
  const read = readConfinedFileSync(path, { within: projectDir, maxBytes: largestProgram });
  return read.kind === 'read' ? sha256(read.bytes) : undefined;
}
