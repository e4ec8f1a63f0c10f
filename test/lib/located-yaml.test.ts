import { describe, expect, test } from 'vitest';
import { readLocatedYaml } from '../../src/lib/yaml/located-yaml.ts';

function read(text: string) {
  const result = readLocatedYaml(text);
  if ('broken' in result) throw new Error(result.broken.reason);
  const top = result.documents[0] as { models: readonly Record<string, unknown>[] };
  return { ...result, top };
}

const text = `version: 2
shared: &shared {owner: finance}
models:
  # said first
  - name: orders
    <<: *shared
    description: >
      One row
      per order
    values: [1, {b: 2}]
  - name: "pe\\"ople"
    same: *shared
`;

describe('YAML with places', () => {
  test('has the line and the text of every key, mapping and list entry', () => {
    const { top, locate: place } = read(text);
    const [orders, people] = top.models;
    expect(orders).toEqual({
      name: 'orders',
      owner: 'finance',
      description: 'One row per order\n',
      values: [1, { b: 2 }],
    });
    expect(place(orders).line).toBe(5);
    expect(place(orders, 'description')).toEqual({
      line: 7,
      text: 'description: >\n      One row\n      per order',
    });
    expect(place(orders?.['values'], 1)).toEqual({ line: 10, text: '{b: 2}' });
    expect(place(people, 'name')).toEqual({ line: 11, text: 'name: "pe\\"ople"' });
    expect(place(orders, 'absent')).toEqual(place(orders));
  });

  test.each([
    ['a: {x: 1, y: "two" } # no more', 'a: {x: 1, y: "two" }'],
    ['a: [p, "q",\n  # the last\n]\nb: 1', 'a: [p, "q",\n  # the last\n]'],
    ['a: []\nb: 1', 'a: []'],
    ['a: { h: [ {i: 1} ] , }', 'a: { h: [ {i: 1} ] , }'],
    ["a: 'it''s'\nb: 1", "a: 'it''s'"],
    ['a: {b, c}\n', 'a: {b, c}'],
    ['a:\nb: [1]', 'a'],
  ])('%j: a text ends with its bracket or quote', (written, said) => {
    const { documents, locate } = read(written);
    expect(locate(documents[0], 'a').text).toBe(said);
  });

  test('reads several documents, and none', () => {
    const several = readLocatedYaml('--- {a: 1}\n---\nb: 2\n');
    expect('documents' in several && several.documents).toEqual([{ a: 1 }, { b: 2 }]);
    expect('documents' in several && several.locate(several.documents[1], 'b').line).toBe(3);
    for (const empty of ['', '# nothing\n'])
      expect(readLocatedYaml(empty)).toMatchObject({ documents: [] });
  });

  test('says where a text stops being YAML', () => {
    expect(readLocatedYaml('a: 1\nb: [1,\nc: {')).toMatchObject({ broken: { line: 3 } });
    expect(readLocatedYaml(`a: ${'['.repeat(200)}`)).toHaveProperty('broken');
    expect(readLocatedYaml('a: *nowhere')).toHaveProperty('broken');
  });

  test('takes brackets and quotes that continue on shallow lines, as PyYAML does', () => {
    const shallow = `models:
  - name: orders
    tests: [
      {unique: {}},
      not_null
    ]
    tags: [
 a,
b
]
    description: 'in two
lines

and a paragraph'
    meta: {a: 1,
b: [x,
]}
`;
    const { top, locate } = read(shallow);
    expect(top.models).toEqual([
      {
        name: 'orders',
        tests: [{ unique: {} }, 'not_null'],
        tags: ['a', 'b'],
        description: 'in two lines\nand a paragraph',
        meta: { a: 1, b: ['x'] },
      },
    ]);
    const [orders] = top.models;
    expect(locate(orders?.['tags'], 1)).toEqual({ line: 9, text: 'b' });
    expect(locate(orders, 'description')).toEqual({
      line: 11,
      text: "description: 'in two\nlines\n\nand a paragraph'",
    });
    expect(locate(orders, 'meta').line).toBe(15);
  });

  test('says where a bracket is not closed, however many lines follow', () => {
    const open = `a: 1\nb: [1,\n${'c,\n'.repeat(20_000)}`;
    expect(readLocatedYaml(open)).toMatchObject({ broken: { line: 3 } });
  });

  test('takes keys of every kind as names', () => {
    const { documents } = readLocatedYaml('__proto__: {a: 1}\nconstructor: 2\n1: x\n') as {
      documents: readonly object[];
    };
    expect(Object.keys(documents[0] ?? {})).toEqual(['1', '__proto__', 'constructor']);
    expect(Object.getPrototypeOf(documents[0])).toBe(Object.prototype);
  });
});
