import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { buildDatabase } from '../../bench/relationships/schema-builder.ts';
import { readSchemaText } from '../../bench/relationships/schema-text.ts';
import { scanFile } from '../../bench/relationships/score.ts';
import { writeDatabase } from '../../bench/relationships/write-database.ts';
import { singular } from '../../src/scan/names/split-words.ts';

const dir = mkdtempSync(join(tmpdir(), 'ktx-name-rules-'));
afterAll(() => rmSync(dir, { recursive: true }));
let files = 0;

/** The accepted links of a database that declares nothing, or nothing but primary keys. */
async function accepted(text: string, declares: 'nothing' | 'keys' = 'nothing') {
  const path = join(dir, `${files++}.sqlite`);
  writeDatabase(path, buildDatabase('rules', readSchemaText(text)), declares);
  const { links } = await scanFile(path, undefined);
  return links
    .filter(({ status }) => status === 'accepted')
    .map(({ from, to }) => {
      const [own, other] = [from, to].map(
        ({ table, columns }) => `${table.table}.${columns.join()}`,
      );
      return `${own} -> ${other}`;
    })
    .sort();
}

const party = `
party 900
  party_id serial !
  note words
person 700
  party_id =party.party_id !
  born date
employee 190
  party_id =person.party_id !
  job words
email_address 600
  email_address_id serial !
  party_id >person.party_id
  text email
leave 400
  leave_id serial !
  party_id >employee.party_id
  days int=1..30
`;

test('a column refers to the subtype whose keys it keeps to, not to the root', async () => {
  const links = [
    'email_address.party_id -> person.party_id',
    'employee.party_id -> person.party_id',
    'leave.party_id -> employee.party_id',
    'person.party_id -> party.party_id',
  ];
  expect(await accepted(party, 'keys')).toEqual(links);
  expect(await accepted(party)).toEqual(links);
});

test('two keys of one row are no reference of the table to itself', async () => {
  const links = await accepted(`
promotion 60
  promotion_key serial !
  promotion_alternate_key serial
  page_number int=1..40
  parent_promotion_key >promotion.promotion_key null=.2 share=.4
`);
  expect(links).toEqual(['promotion.parent_promotion_key -> promotion.promotion_key']);
});

test('keys that number the rows of their tables are no references', async () => {
  const links = await accepted(`
visits 900
  row_id serial=20+1 !
  reason words
labs 2000
  row_id serial=200+1 !
  label words
stays 1500
  row_id serial=300+1 !
  ward words
`);
  expect(links).toEqual([]);
});

test('months, quarters and stock are no keys of small tables', async () => {
  const links = await accepted(`
calendar 900
  date_key daynum !
  month_of_year int=1..12
  quarter int=1..4
store 12
  store_key serial !
  store_name words
scenario 4
  scenario_key serial !
  title words
product 300
  product_key serial !
  safety_stock int=1..12
  store_key >store.store_key
`);
  expect(links).toEqual(['product.store_key -> store.store_key']);
});

test('columns of one name find the table that all of them mean', async () => {
  const links = await accepted(`
title 1900
  id serial !
  text words
company 1300
  id serial !
  brand words
movie_company 2600
  id serial !
  movie_id >title.id
  company_id >company.id
movie_note 4100
  id serial !
  movie_id >title.id
  note words
cast_entry 5200
  id serial !
  movie_id >title.id
  place int=1..9
`);
  expect(links).toEqual([
    'cast_entry.movie_id -> title.id',
    'movie_company.company_id -> company.id',
    'movie_company.movie_id -> title.id',
    'movie_note.movie_id -> title.id',
  ]);
});

test('a name is read with that of its own table', async () => {
  const links = await accepted(`
artist_type 20
  id serial !
  label words
place_type 20
  id serial !
  label words
artist 900
  id sparse=1+6 !
  type >artist_type.id
place 700
  id sparse=1+9 !
  type >place_type.id
`);
  expect(links).toEqual(['artist.type -> artist_type.id', 'place.type -> place_type.id']);
});

test('a name may be the last word of its table', async () => {
  const links = await accepted(`
sales_order 800
  id serial !
  placed date
order_note 800
  id serial !
  text words
refund 1100
  id sparse=1+5 !
  order_id >sales_order.id
`);
  expect(links).toContain('refund.order_id -> sales_order.id');
});

test('a name may have the first letters of all words but the last', async () => {
  const links = await accepted(`
customer_demographics 700
  row_key serial !
  gender oneof=M|F
coupon 700
  row_key serial !
  label words
visit 2000
  visit_key sparse=1+4 !
  cdemo_key >customer_demographics.row_key
`);
  expect(links).toContain('visit.cdemo_key -> customer_demographics.row_key');
});

test('a subtype has one key, and a table of pairs has two columns for it', async () => {
  const path = join(dir, 'keys.sqlite');
  const text = `
${party}
film 400
  film_id serial !
  name words
category 16
  category_id serial !
  name words
film_category 400
  film_id =film.film_id
  category_id >category.category_id
`;
  writeDatabase(path, buildDatabase('keys', readSchemaText(text)));
  const { primaryKeys } = await scanFile(path, undefined);
  const keys = primaryKeys.map(({ table, columns }) => `${table.table}: ${columns.join()}`);
  expect(keys).toEqual(
    expect.arrayContaining(['employee: party_id', 'film_category: film_id,category_id']),
  );
});

test.each([
  ['movies', 'movie'],
  ['cookies', 'cookie'],
  ['categories', 'category'],
])('%s are called by %s', (plural, word) => {
  expect(singular(plural)).toBe(word);
});
