import { describe, expect, it, test } from 'vitest';
import { settleCopies } from '../../src/search/families.ts';
import { guessLanguages, stripEndings } from '../../src/search/languages.ts';
import { readQuestion } from '../../src/search/question.ts';
import { splitCompound, translateWord } from '../../src/search/translations.ts';

const nothing = { isName: () => false, formsOf: () => [] };

test.for([
  ['wie hoch ist der umsatz', 'german'],
  ['quel est le chiffre par boutique', 'french'],
  ['cuánto vendimos en la tienda', 'spanish'],
  ['how much did we sell', 'english'],
] as const)('the function words of “%s” are %s', ([text, language]) => {
  const words = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').split(' ');
  expect(guessLanguages(words)).toEqual([language]);
});

test('a question without function words may be of any language', () => {
  expect(guessLanguages(['umsatz'])).toHaveLength(4);
});

test.for([
  ['kunde', 'kunden'],
  ['lieferant', 'lieferanten'],
  ['operacion', 'operaciones'],
  ['boutique', 'boutiques'],
] as const)('%s and %s differ in their endings only', ([one, many]) => {
  expect(stripEndings(one)).toBe(stripEndings(many));
});

test.for([
  ['retourenquote', ['retouren', 'quote']],
  ['lagerbestand', ['lager', 'bestand']],
  ['zollrechnungen', ['rechnungen']],
  ['xyz', []],
] as const)('%s is made of %j', ([word, parts]) => {
  expect(splitCompound(word, () => false)).toEqual(parts);
});

test('a compound is split by words that only this company has', () => {
  expect(splitCompound('kombuchaflaschen', (part) => part === 'kombucha')).toEqual(['kombucha']);
});

test('a word is translated from the languages of the question only', () => {
  expect(translateWord('lieferanten', ['german'])).toContain('supplier');
  expect(translateWord('lieferanten', ['french'])).toEqual([]);
  expect(translateWord('suppliers', ['english'])).toContain('lieferant');
});

describe('the words of a question', () => {
  it('are weak if they only say when or how many', () => {
    const words = readQuestion('how many parcels did we lose last month?', nothing);
    expect(words).toMatchObject({ strong: ['parcels', 'lose'], weak: ['last', 'month'] });
  });

  it('are strong if there are no others', () => {
    expect(readQuestion('last month', nothing)).toMatchObject({
      strong: ['last', 'month'],
      weak: [],
    });
  });

  it('of another language bring what the company may call the same', () => {
    const { strong, forms, translated } = readQuestion('Wie hoch ist die Retourenquote?', nothing);
    expect(strong).toEqual(['retourenquote']);
    expect(forms).toEqual(['retouren', 'quote']);
    expect(translated).toContain('return');
  });

  it('do not count twice with a translation that is spelled alike', () => {
    expect(readQuestion('revenue of shops', nothing).translated).not.toContain('revenu');
    expect(readQuestion('revenue', nothing).related).not.toContain('revenue');
  });
});

describe('steps of a transformation', () => {
  const hit = (parent: string, score: number, kind = 'dataset') => ({
    kind,
    connection: 'w',
    parent,
    score,
  });
  const scores = (hits: Parameters<typeof settleCopies>[0]) =>
    Object.fromEntries(settleCopies(hits).map(({ parent, score }) => [parent, score]));

  it('give way to the best of them, and speak for the table that people ask', () => {
    expect(
      scores([hit('fct_orders', 10), hit('stg_orders', 8), hit('int_orders_joined', 4)]),
    ).toEqual({ fct_orders: 11.6, stg_orders: 4, int_orders_joined: 2 });
  });

  it('stay where one of them is the best', () => {
    expect(scores([hit('fct_orders', 1), hit('stg_orders', 8)])['stg_orders']).toBe(8);
  });

  it('are of one connection; two tables that people ask are never copies', () => {
    const elsewhere = { ...hit('stg_orders', 5), connection: 'other' };
    expect(scores([hit('fct_orders', 10), elsewhere])['stg_orders']).toBe(5);
    expect(scores([hit('fct_customers', 10), hit('dim_customers', 6)])['dim_customers']).toBe(8);
  });
});
