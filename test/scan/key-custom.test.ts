import { expect, test } from 'vitest';
import { parseColumnName } from '../../src/scan/names/parse-name.ts';
import { foundJoins, foundKeys } from '../support/found-joins.ts';

const chart = `
chart 190
  id serial
  accno code=AC- !
line 1500
  line_id serial=9000 !
  debit_id >chart.id
  credit_id >chart.id share=.98
invoice 700
  id serial !
  amount num=90
`;

test('the id of a table is referred to, though its declared key is a code', async () => {
  const links = ['line.credit_id -> chart.id', 'line.debit_id -> chart.id'];
  expect((await foundJoins(chart)).accepted).toEqual(links);
  expect((await foundJoins(chart, 'keys')).accepted).toEqual(links);
});

test('a column refers to its own table, though columns of that name refer elsewhere', async () => {
  const { accepted } = await foundJoins(`
host 300
  host_id sparse=10000+9 !
  label words
host_macro 800
  macro_id serial !
  template_id >host.host_id
item 900
  item_id sparse=30000+9 !
  host_id >host.host_id
  template_id >item.item_id null=.6
`);
  expect(accepted).toContain('item.template_id -> item.item_id');
});

test('a role before the name of the own key refers to another row, if it repeats', async () => {
  const { accepted } = await foundJoins(`
item 900
  item_id sparse=30000+9 !
  master_item_id >item.item_id null=.6
  label words
`);
  expect(accepted).toEqual(['item.master_item_id -> item.item_id']);
});

const lookups = `
media_type 34
  media_type_id serial !
  label words
media_file 300
  file_id serial=5000 !
  media_type_id >media_type.media_type_id
media_user 120
  user_id serial=700 !
  login words
trigger 900
  trigger_id sparse=13000+5 !
  type int=0..1
  status int=0..1
item 800
  item_id sparse=20000+7 !
  type int=0..20
`;

test('the type of every table is not the type of one', async () => {
  const { accepted } = await foundJoins(lookups);
  expect(accepted).toEqual(['media_file.media_type_id -> media_type.media_type_id']);
});

test('a role may stand after the name', () => {
  const entities = ['trigger_id_up', 'team_id_2', 'almacen_origen', 'page_id_count'].map(
    (name) => parseColumnName(name).entity,
  );
  expect(entities).toEqual([
    ['up', 'trigger'],
    ['2', 'team'],
    ['origen', 'almacen'],
    ['page', 'count'],
  ]);
});

test('the last part of a compound names it', async () => {
  const { accepted } = await foundJoins(`
superhero 750
  id serial !
  label words
superpower 167
  id serial !
  label words
hero_power 5000
  hero_id >superhero.id
  power_id >superpower.id
`);
  expect(accepted).toEqual([
    'hero_power.hero_id -> superhero.id',
    'hero_power.power_id -> superpower.id',
  ]);
});

const plain = (suffix: string): string => `
habitant 1900
  id serial !
  logement${suffix} >logement.id
  enfants int=0..6
logement 1100
  id serial !
  quartier${suffix} >quartier.id
  surface int=12..250
quartier 170
  id serial !
  libelle words
demande 2300
  id serial !
  quartier${suffix} >quartier.id
  ouvreur >logement.id
`;

test('where references have no id word, a role has none either', async () => {
  const role = 'demande.ouvreur -> logement.id';
  expect((await foundJoins(plain(''))).accepted).toContain(role);
  expect((await foundJoins(plain('_id'))).accepted).not.toContain(role);
});

test('a uuid that is called alike and has its values refers to it', async () => {
  const { accepted } = await foundJoins(`
card 900
  id serial !
  uuid uuid
  label words
ruling 1300
  id serial=5000 !
  uuid >card.uuid
`);
  expect(accepted).toEqual(['ruling.uuid -> card.uuid']);
});

test('the id of a table may be called by all of its words', async () => {
  const keys = await foundKeys(`
patient 1200
  pid sparse=1+2 !
patient_identifier 1400
  patient_identifier_id serial !
  patient_id >patient.pid
  uuid uuid
order_header 900
  id_order sparse=1+2 !
order_detail 2600
  id_order_detail sparse=1+2 !
  id_order >order_header.id_order
`);
  expect(keys).toMatchObject({
    patient_identifier: 'patient_identifier_id',
    order_detail: 'id_order_detail',
  });
});

test('what is referred to tells rows apart rather than when they were written', async () => {
  const keys = await foundKeys(`
orders 900
  order_id sparse=1+2 !
  placed date
order_coupon_use 700 key=order_id,coupon_id
  order_id >orders.order_id
  coupon_id int=10..40
  date_created ts
`);
  expect(keys['order_coupon_use']).toBe('order_id,coupon_id');
});
