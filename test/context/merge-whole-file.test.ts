import { expect, test } from 'vitest';
import { hashFile, mergeWholeFile } from '../../src/context/merge/merge-whole-file.ts';

const [old, next] = ['query: old\n', 'query: new\n'];
const left = new Map([['f', [hashFile(old)]]]);
const unknown = new Map<string, readonly (string | null)[]>();
const kept = { isKept: true, isRemoved: false };
const ours = { isKept: false, isRemoved: false };

test.for([
  {
    title: 'a new one is written',
    wanted: next,
    text: undefined,
    base: unknown,
    becomes: { text: next, ...ours },
  },
  {
    title: 'one that ktx left is replaced',
    wanted: next,
    text: old,
    base: left,
    becomes: { text: next, ...ours },
  },
  {
    title: 'also with the line ends of another system',
    wanted: next,
    text: old.replaceAll('\n', '\r\n'),
    base: left,
    becomes: { text: next, ...ours },
  },
  {
    title: 'and removed where nothing says it any more',
    wanted: undefined,
    text: old,
    base: left,
    becomes: { text: undefined, ...ours },
  },
  {
    title: 'one that a person changed stays',
    wanted: next,
    text: 'mine\n',
    base: left,
    becomes: { text: 'mine\n', ...kept },
  },
  {
    title: 'also where nothing says it any more',
    wanted: undefined,
    text: 'mine\n',
    base: left,
    becomes: { text: 'mine\n', ...kept },
  },
  {
    title: 'one that a person wrote stays',
    wanted: next,
    text: 'mine\n',
    base: unknown,
    becomes: { text: 'mine\n', ...kept },
  },
  {
    title: 'one that a person wrote as ktx would is taken over',
    wanted: next,
    text: next,
    base: unknown,
    becomes: { text: next, ...ours },
  },
  {
    title: 'one that a person deleted stays out',
    wanted: next,
    text: undefined,
    base: left,
    becomes: { text: undefined, isKept: false, isRemoved: true },
  },
  {
    title: 'nothing is nothing',
    wanted: undefined,
    text: undefined,
    base: left,
    becomes: { text: undefined, ...ours },
  },
])('of whole files: $title', ({ wanted, text, base, becomes }) => {
  expect(mergeWholeFile({ key: 'f', wanted, text, base, isRemoved: false })).toMatchObject(becomes);
});

test('a deletion is remembered without a base, and ends when the file is back', () => {
  const gone = { key: 'f', wanted: next, base: unknown, isRemoved: true };
  expect(mergeWholeFile({ ...gone, text: undefined })).toMatchObject({ isRemoved: true });
  expect(mergeWholeFile({ ...gone, text: next })).toMatchObject({ text: next, isRemoved: false });
});
