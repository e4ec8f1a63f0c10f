import { load } from 'js-yaml';
import { describe, expect, test } from 'vitest';
import { yamlFile } from '../../src/context/merge/yaml-text.ts';

/** What YAML 1.1 (PyYAML), YAML 1.2 or a bracket reads as something else without quotes. */
const needQuotes = ['Inventory?', 'a?b', 'yes', 'On', 'null', '~', '1_000', '1:20', '2026-01-01'];
const plain = ['gross amount', 'orders.status', "the shop's own", 'a > b', 'größe', '売上'];

describe('YAML that ktx writes', () => {
  test.each(needQuotes)('puts %s into quotes, alone and in a list', (text) => {
    const written = yamlFile('x', { title: text, synonyms: [text, 'b'] });
    expect(written).toContain(`title: "${text}"\nsynonyms: ["${text}", b]`);
    expect(load(written)).toEqual({ title: text, synonyms: [text, 'b'] });
  });

  test.each(plain)('leaves %s as it is', (text) => {
    expect(yamlFile('x', { synonyms: [text] })).toBe(`# x\nsynonyms: [${text}]\n`);
  });
});
