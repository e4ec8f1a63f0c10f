import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { keepState } from '../../src/store/ownership/state-guard.ts';
import { openSealedText, sealText } from '../../src/store/ownership/sealed-text.ts';
import { openState } from '../../src/store/state.ts';
import { temporaryFolder } from './git-project.ts';

/** Another machine knows no state of this one. */
function onAnotherMachine(): void {
  const before = process.env['XDG_STATE_HOME'];
  process.env['XDG_STATE_HOME'] = temporaryFolder();
  onTestFinished(() => {
    if (before === undefined) delete process.env['XDG_STATE_HOME'];
    else process.env['XDG_STATE_HOME'] = before;
  });
}

function sealOne(dir: string): void {
  const state = openState(dir);
  state.db.exec('CREATE TABLE t (value BLOB)');
  state.db.prepare('INSERT INTO t VALUES (?)').run(sealText(state.db, 'ada@example.org'));
  state.close();
}

test('what is sealed is not in the file, and opens for the machine that sealed it', () => {
  const dir = temporaryFolder();
  sealOne(dir);
  expect(readFileSync(join(dir, '.ktx/state.db')).includes('ada@example.org')).toBe(false);
  const again = openState(dir);
  const stored = again.db.prepare('SELECT value FROM t').get()?.['value'];
  expect(openSealedText(again.db, stored)).toBe('ada@example.org');
  // Text that somebody wrote into the file without the key.
  expect(openSealedText(again.db, 'ada@example.org')).toBeUndefined();
  const changed = Uint8Array.from(stored as Uint8Array);
  changed.set([(changed.at(-1) ?? 0) ^ 1], changed.length - 1);
  expect(openSealedText(again.db, changed)).toBeUndefined();
  again.close();
});

test('a .ktx that was kept on another machine has no values for it', () => {
  const dir = temporaryFolder();
  sealOne(dir);
  const copy = temporaryFolder();
  cpSync(join(dir, '.ktx'), join(copy, '.ktx'), { recursive: true });
  onAnotherMachine();
  keepState(join(copy, '.ktx'));
  const state = openState(copy);
  const stored = state.db.prepare('SELECT value FROM t').get()?.['value'];
  expect(stored).toBeInstanceOf(Uint8Array);
  expect(openSealedText(state.db, stored)).toBeUndefined();
  state.close();
});
