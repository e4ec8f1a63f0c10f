import { expect, test } from 'vitest';
import { foundJoins } from '../support/found-joins.ts';

test('a key that leaves numbers out has them from the table where they end', async () => {
  const { accepted } = await foundJoins(`
asset 600
  asset_id serial !
  bought date
crane 150
  crane_id =asset.asset_id+0*4 !
  reach num=90
pump 200
  pump_id =asset.asset_id+1*3 !
  litres int=200..9000
refill 900
  refill_id serial !
  pump_id >pump.pump_id
`);
  expect(accepted).toEqual([
    'crane.crane_id -> asset.asset_id',
    'pump.pump_id -> asset.asset_id',
    'refill.pump_id -> pump.pump_id',
  ]);
});

test('a key has its numbers from no table that refers to it', async () => {
  const { accepted } = await foundJoins(`
vote 1200
  id serial !
  post_id >post.id
post 400
  id =vote.id+1*3 !
  title words
`);
  expect(accepted).toEqual(['vote.post_id -> post.id']);
});

test('where a row leads from and to, in any language that the words are known in', async () => {
  const { accepted } = await foundJoins(`
sklad 22
  id serial !
  nazev words
pohyb 2100
  id serial !
  odkud >sklad.id
  kam >sklad.id
  kusy int=1..300
`);
  expect(accepted).toEqual(['pohyb.kam -> sklad.id', 'pohyb.odkud -> sklad.id']);
});

test('who is called by what they do is a person, beside what only persons have', async () => {
  const { accepted } = await foundJoins(`
councillor 15
  Councillor_ID serial !
  Name words
  Age int=31..70
vote 40
  Vote_ID serial !
  Mover >councillor.Councillor_ID
  Seconder >councillor.Councillor_ID
  Ayes int=0..15
`);
  expect(accepted).toEqual([
    'vote.Mover -> councillor.Councillor_ID',
    'vote.Seconder -> councillor.Councillor_ID',
  ]);
});

test('a letter at the end of a name is a role', async () => {
  const { accepted } = await foundJoins(`
city 7
  City_ID serial !
  Title words
fair 6
  Fair_ID serial !
  Theme words
  Stands int=2..40
twinning 8
  Twin_ID serial !
  City_a >city.City_ID
  City_b >city.City_ID
  Visits int=1..7
`);
  expect(accepted).toEqual(['twinning.City_a -> city.City_ID', 'twinning.City_b -> city.City_ID']);
});

test('names that a table has for its key are references, and places in a grid are none', async () => {
  const { accepted } = await foundJoins(`
stop 140
  stop_name words !
  zone int=1..6
lost_item 300
  item_no serial !
  handed_in >stop.stop_name
  label words
  x int=1..140
  y int=1..140
`);
  expect(accepted).toEqual(['lost_item.handed_in -> stop.stop_name']);
});

test('numbers that somebody gives to each are keys, and a letter may stand for a table', async () => {
  const { accepted } = await foundJoins(`
worker 18
  fname words
  lname words
  ssn serial=123456789+10917 !
  super_ssn >worker.ssn null=.2
  dno >department.dnumber
department 5
  dname words
  dnumber serial !
`);
  expect(accepted).toEqual(['worker.dno -> department.dnumber', 'worker.super_ssn -> worker.ssn']);
});

test('one of two references that name no table refers to what the other one clearly refers to', async () => {
  const { accepted } = await foundJoins(`
hero 900
  hero_id serial !
  title words
duel 1100
  duel_id serial !
  challenger_id >hero.hero_id
  winner_id >hero.hero_id null=.4
weapon 700
  weapon_id serial !
  hero_id >hero.hero_id
`);
  expect(accepted).toEqual([
    'duel.challenger_id -> hero.hero_id',
    'duel.winner_id -> hero.hero_id',
    'weapon.hero_id -> hero.hero_id',
  ]);
});

test('numbers of one range that fit one key by the dozen are measured, whatever they are called', async () => {
  const rows = (range: string) => `
  n1 ${range}
  n2 num=90
  n5 ${range}
  n9 ${range}
  n13 ${range}
  n17 ${range}
`;
  const { accepted } = await foundJoins(`
events 6000
  id serial !${rows('int=0..9999')}
wide 10000
  id serial=0 !
  label words
haul 3000
  haul_id serial !
  depot_id >depot.depot_id
  drums int=1..260
  crates int=1..260
  dial int=1..260
depot 260
  depot_id serial !
  street words
`);
  expect(accepted).toEqual(['haul.depot_id -> depot.depot_id']);
});

test('where keys are written together with their id word, every word before it is one', async () => {
  const { accepted } = await foundJoins(`
hosts 300
  hostid serial=101 !
  label words
items 900
  itemid serial=20001 !
  hostid >hosts.hostid
  templateid >items.itemid null=.5 share=.2
  delay int=10..600
graphs 120
  graphid serial !
  itemid >items.itemid
`);
  expect(accepted).toEqual([
    'graphs.itemid -> items.itemid',
    'items.hostid -> hosts.hostid',
    'items.templateid -> items.itemid',
  ]);
});

test('keys that leave numbers out prove a reference to another row of the table', async () => {
  const { accepted } = await foundJoins(`
inspection 2600
  inspection_id sparse=44247+7 !
  result oneof=Pass|Fail
  followup_to >inspection.inspection_id null=.7
`);
  expect(accepted).toEqual(['inspection.followup_to -> inspection.inspection_id']);
});

test('no text measures, whatever it is called', async () => {
  const { accepted } = await foundJoins(`
grape 24
  grape_name words !
  skin oneof=red|white
wine 350
  wine_no serial !
  main_variety >grape.grape_name
  second_variety >grape.grape_name null=.5
`);
  expect(accepted).toEqual([
    'wine.main_variety -> grape.grape_name',
    'wine.second_variety -> grape.grape_name',
  ]);
});

test('a column of its own table and a role: the current state of an order is an order state', async () => {
  const { accepted } = await foundJoins(`
ps_orders 900
  id_order serial !
  current_state >ps_order_state.id_order_state
  total num=90
ps_order_state 13
  id_order_state serial !
  color letters=3
ps_carrier 20
  id_carrier serial !
  label words
`);
  expect(accepted).toEqual(['ps_orders.current_state -> ps_order_state.id_order_state']);
});

test('who is called by what they do has a number among those of the people', async () => {
  const { accepted } = await foundJoins(`
person 60
  person_id serial !
  first_name words
  last_name words
librarian 19
  librarian_id =person.person_id+1*3 !
  desks int=1..4
cupboard 20
  cupboard_id =person.person_id+0*3 !
  litres int=1..90
`);
  expect(accepted).toEqual(['librarian.librarian_id -> person.person_id']);
});
