import { expect, test } from 'vitest';
import { findPin, parsePins, pinsPath, setPin, type Pin } from '../../src/context/claims/pins.ts';
import { ownDefinitions } from '../../src/context/compile/own-definitions.ts';
import { read, run, temporaryFolder, write } from '../store/git-project.ts';

const why = 'Finance counts it so, see:\n- the {handbook}, of 2026\n- what the board was told';
const of = (subject: string, choose: string, by: string): Pin => {
  const source = { connection: 'handbook', item: 'sources/handbook/terms.md' };
  return { subject, kind: 'definition', choose, seen: ['aaaa', 'bbbb'], source, by, why };
};
const basket = setPin(undefined, of('term:basket', 'aaaa', 'Ada'));

test.for<[name: string, start: string | undefined, ours: Pin, theirs: Pin]>([
  ['the same', undefined, of('term:churn', 'aaaa', 'Ada'), of('term:churn', 'bbbb', 'Bob')],
  ['the same, again', basket, of('term:basket', 'aaaa', 'Bob'), of('term:basket', 'bbbb', 'Eve')],
  ['another', basket, of('term:churn', 'aaaa', 'Ada'), of('term:seat', 'bbbb', 'Ada')],
])('what two people decided on two branches is whole after the merge: %s', ([, start, a, b]) => {
  const dir = temporaryFolder();
  const commit = (text: string | undefined) => {
    if (text !== undefined) write(dir, pinsPath, text);
    run(dir, 'add', '.');
    run(dir, 'commit', '-qm', 'decided');
  };
  run(dir, 'init', '-q', '-b', 'main');
  write(dir, '.gitattributes', 'pins.yaml merge=union\n');
  commit(start);
  run(dir, 'checkout', '-qb', 'theirs');
  commit(setPin(start, b));
  run(dir, 'checkout', '-q', 'main');
  commit(setPin(start, a));
  run(dir, 'merge', '-q', '--no-edit', 'theirs');
  const before = a.subject === 'term:basket' ? [] : parsePins(start).pins;
  expect(parsePins(read(dir, pinsPath))).toEqual({ pins: [...before, a, b], deferred: [] });
});

test('a new pin leaves the layout of those that people wrote', () => {
  const written =
    'pins:\n  # Asked in May.\n  - subject: term:churn\n    kind: definition\n    choose: aaaa\n    seen:\n      - aaaa\n    why: |\n      By hand.\n';
  const pinned = setPin(written, of('term:seat', 'bbbb', 'Ada'));
  expect(pinned.startsWith(written)).toBe(true);
  expect(pinned.slice(written.length).trimEnd().split('\n')).toHaveLength(1);
});

test('what a person wrote holds again once the choice that replaced it is taken back', () => {
  const own: Pin = { ...of('term:churn', 'dddd', 'Ada'), says: 'Gone for 30 days.' };
  const words = (text: string) => ownDefinitions(parsePins(text).pins).map(({ body }) => body);
  const written = setPin(setPin(undefined, of('term:churn', 'aaaa', 'Ada')), own);
  expect(words(written)).toEqual(['Gone for 30 days.']);
  const chosen = setPin(written, of('term:churn', 'bbbb', 'Bob'));
  expect(words(chosen)).toEqual([]);
  expect(findPin(parsePins(chosen).pins, own)).toMatchObject({ choose: 'bbbb' });
  const again = setPin(chosen, of('term:churn', 'aaaa', 'Bob'));
  const undone = setPin(again, { ...of('term:churn', 'open', 'Bob'), seen: [] });
  expect(words(undone)).toEqual(['Gone for 30 days.']);
  expect(parsePins(undone).pins).toHaveLength(1);
});
