import { YAMLException } from 'js-yaml';
import { expect, test } from 'vitest';
import { readYaml } from '../../src/lib/yaml/read-yaml.ts';

test('an alias stands for its value, also a hundred times and after its name is given anew', () => {
  const fields = Array.from({ length: 100 }, () => '  - *name').join('\n');
  expect(
    readYaml(`shared: &name {type: text}\nfields:\n${fields}\nlater: &name 1\nsame: *name`),
  ).toEqual({
    shared: { type: 'text' },
    fields: Array.from({ length: 100 }, () => ({ type: 'text' })),
    later: 1,
    same: 1,
  });
});

test('signs that are no aliases mean nothing', () => {
  expect(readYaml('where: a * b > 1 and c & 3 = 1')).toEqual({
    where: 'a * b > 1 and c & 3 = 1',
  });
});

test.each([
  ['a: &a\n  b: *a', 2, '*a stands for a value that holds it'],
  ['- &x [1, [*x]]', 1, '*x stands for a value that holds it'],
  [`a: &a ${'x'.repeat(600_000)}\nb:\n  - *a\n  - *a`, 4, 'more than a million characters'],
])('what would never end is refused where it stands', (text, line, reason) => {
  const read = () => readYaml(text);
  expect(read).toThrow(YAMLException);
  expect(read).toThrow(reason);
  try {
    read();
  } catch (error) {
    expect((error as YAMLException).mark?.line).toBe(line - 1);
  }
});
